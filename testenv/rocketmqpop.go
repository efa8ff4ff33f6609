package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/brokerfault/brokerfault/testenv/internal/rawgrpc"
)

// popService begins the name of every method of the proxy. The messages below
// are written by hand, with the field numbers of apache/rocketmq-apis: their Go
// code is a part of the client under test.
const popService = "/apache.rocketmq.v2.MessagingService/"

// Values of enumerations in the same definitions.
const (
	popOK         = 20000
	popSimple     = 3 // ClientType.SIMPLE_CONSUMER
	popIPv4       = 1 // AddressScheme.IPv4
	popTag        = 1 // FilterType.TAG
	popNormal     = 1 // MessageType.NORMAL
	popIdentity   = 1 // Encoding.IDENTITY
	popInvisible  = 10 * time.Second
	popWait       = 5 * time.Second // the least that the proxy takes
	popRoundLimit = 15 * time.Second
)

// popRoundTrip asks for the topic's route, sends a message and receives until it comes.
func popRoundTrip(ctx context.Context, address, topic, group string) error {
	ctx, cancel := context.WithTimeout(ctx, popRoundLimit)
	defer cancel()
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawgrpc.Codec{})))
	if err != nil {
		return fmt.Errorf("make a connection: %w", err)
	}
	defer conn.Close()
	id := "brokerfault-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	ctx = metadata.AppendToOutgoingContext(ctx, "x-mq-client-id", id, "x-mq-language", "GO", "x-mq-client-version", "5.1.4", "x-mq-protocol", "v2")
	p := &popper{conn: conn, endpoints: popEndpoints(address), topic: topic, group: group}
	if err := p.hasRoute(ctx); err != nil {
		return fmt.Errorf("query the route: %w", err)
	}
	if err := p.tellSettings(ctx); err != nil {
		return fmt.Errorf("tell the settings: %w", err)
	}
	if err := p.send(ctx, id); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return p.receiveUntil(ctx, id)
}

// popper speaks with the proxy.
type popper struct {
	conn         *grpc.ClientConn
	endpoints    []byte
	topic, group string
}

func (p *popper) hasRoute(ctx context.Context) error {
	var answer []byte
	request := appendField(appendField(nil, 1, popResource(p.topic)), 2, p.endpoints)
	if err := p.conn.Invoke(ctx, popService+"QueryRoute", &request, &answer); err != nil {
		return err
	}
	return popStatus(answer)
}

// tellSettings makes this client known to the proxy as a simple consumer.
func (p *popper) tellSettings(ctx context.Context) error {
	stream, err := p.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, popService+"Telemetry")
	if err != nil {
		return err
	}
	entry := appendField(appendField(nil, 1, popResource(p.topic)), 2, popExpression())
	subscription := appendField(appendField(nil, 1, popResource(p.group)), 2, entry)
	settings := appendField(appendNumber(nil, 1, popSimple), 2, p.endpoints)
	settings = appendField(appendField(settings, 4, popDuration(3*time.Second)), 6, subscription)
	command := appendField(nil, 2, settings)
	if err := stream.SendMsg(&command); err != nil {
		return err
	}
	var answer []byte
	return stream.RecvMsg(&answer)
}

func (p *popper) send(ctx context.Context, id string) error {
	system := appendField(nil, 3, []byte(id))
	system = appendNumber(appendNumber(system, 5, popIdentity), 6, popNormal)
	system = appendField(system, 7, appendNumber(nil, 1, uint64(time.Now().Unix())))
	system = appendField(system, 8, []byte("localhost"))
	message := appendField(appendField(nil, 1, popResource(p.topic)), 3, system)
	message = appendField(message, 4, []byte(id))
	request, answer := appendField(nil, 1, message), []byte(nil)
	if err := p.conn.Invoke(ctx, popService+"SendMessage", &request, &answer); err != nil {
		return err
	}
	return popStatus(answer)
}

// receiveUntil receives until the body comes. Those of earlier probes that come
// as well are left to become visible again: nobody else reads here.
func (p *popper) receiveUntil(ctx context.Context, body string) error {
	for {
		bodies, err := p.receive(ctx)
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		for _, got := range bodies {
			if got == body {
				return nil
			}
		}
		if ctx.Err() != nil {
			return errors.New("receive: what was sent did not come")
		}
	}
}

func (p *popper) receive(ctx context.Context) ([]string, error) {
	stream, err := p.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, popService+"ReceiveMessage")
	if err != nil {
		return nil, err
	}
	broker := appendField(nil, 3, p.endpoints)
	queue := appendField(appendField(nil, 1, popResource(p.topic)), 4, broker)
	request := appendField(appendField(nil, 1, popResource(p.group)), 2, queue)
	request = appendNumber(appendField(request, 3, popExpression()), 4, 32)
	request = appendField(appendField(request, 5, popDuration(popInvisible)), 7, popDuration(popWait))
	if err := errors.Join(stream.SendMsg(&request), stream.CloseSend()); err != nil {
		return nil, err
	}
	var bodies []string
	for {
		var answer []byte
		err := stream.RecvMsg(&answer)
		if errors.Is(err, io.EOF) {
			return bodies, nil
		}
		if err != nil {
			return nil, err
		}
		if message, is := field(answer, 2); is {
			body, _ := field(message, 4)
			bodies = append(bodies, string(body))
		}
	}
}

// popStatus reads the status that every unary answer has in its first field.
func popStatus(answer []byte) error {
	status, _ := field(answer, 1)
	code, _ := number(status, 1)
	if code != popOK {
		words, _ := field(status, 2)
		return fmt.Errorf("the proxy says %d: %s", code, words)
	}
	return nil
}

func popResource(name string) []byte { return appendField(nil, 2, []byte(name)) }

func popExpression() []byte { return appendField(appendNumber(nil, 1, popTag), 2, []byte("*")) }

func popDuration(d time.Duration) []byte {
	return appendNumber(appendNumber(nil, 1, uint64(d/time.Second)), 2, uint64(d%time.Second))
}

func popEndpoints(address string) []byte {
	host, port, _ := net.SplitHostPort(address) // it is a link's own
	n, _ := strconv.ParseUint(port, 10, 16)
	return appendField(appendNumber(nil, 1, popIPv4), 2, appendNumber(appendField(nil, 1, []byte(host)), 2, n))
}
