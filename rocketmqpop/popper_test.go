package rocketmqpop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// popper speaks the proxy's protocol itself: it chooses attempt IDs, invisible
// and polling times, which the Go client does not let its user do.
type popper struct {
	id           string
	conn         *grpc.ClientConn
	client       v2.MessagingServiceClient
	endpoints    *v2.Endpoints
	topic, group *v2.Resource
	fifo         bool
}

// newPopper makes a popper known to the proxy, as a push consumer is.
func newPopper(t *testing.T, s *scene, address string) *popper {
	t.Helper()
	p, err := dialPopper(s.env.Context(), s, address)
	require.NoError(t, err)
	s.env.Closes("a popper", p.close)
	return p
}

// introductionLimit bounds what a popper waits for until it is known.
const introductionLimit = 5 * time.Second

func dialPopper(ctx context.Context, s *scene, address string) (*popper, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("make a connection: %w", err)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	p := &popper{
		id:     "popper-" + uuid.NewString(),
		conn:   conn,
		client: v2.NewMessagingServiceClient(conn),
		endpoints: &v2.Endpoints{
			Scheme: v2.AddressScheme_IPv4, Addresses: []*v2.Address{{Host: host, Port: int32(number)}},
		},
		topic: &v2.Resource{Name: s.topic}, group: &v2.Resource{Name: s.group}, fifo: s.fifo,
	}
	// The stream outlives the call, as long as it is opened in time.
	stream, cancel := context.WithCancel(s.env.Context())
	ctx, inTime := context.WithTimeout(ctx, introductionLimit)
	defer inTime()
	unlessLate := context.AfterFunc(ctx, cancel)
	err = p.introduce(stream)
	if err == nil {
		err = refusal(p.heartbeat(ctx))
	}
	if !unlessLate() {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		cancel()
		return nil, errors.Join(fmt.Errorf("tell the settings: %w", err), conn.Close())
	}
	return p, nil
}

func (p *popper) close() { _ = p.conn.Close() }

// signed adds the metadata without which the proxy does not know its client.
func (p *popper) signed(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "x-mq-client-id", p.id, "x-mq-language", "GO",
		"x-mq-client-version", "5.1.4", "x-mq-protocol", "v2", "x-mq-request-id", uuid.NewString())
}

// introduce opens the telemetry stream, which stays open as long as the connection.
func (p *popper) introduce(ctx context.Context) error {
	stream, err := p.client.Telemetry(p.signed(ctx))
	if err != nil {
		return err
	}
	kind := v2.ClientType_PUSH_CONSUMER
	err = stream.Send(&v2.TelemetryCommand{Command: &v2.TelemetryCommand_Settings{Settings: &v2.Settings{
		ClientType: &kind, AccessPoint: p.endpoints, RequestTimeout: durationpb.New(3 * time.Second),
		PubSub: &v2.Settings_Subscription{Subscription: &v2.Subscription{
			Group:         p.group,
			Subscriptions: []*v2.SubscriptionEntry{{Topic: p.topic, Expression: everything}},
		}},
	}}})
	if err != nil {
		return err
	}
	_, err = stream.Recv()
	return err
}

// heartbeat is what the proxy says to one of the group.
func (p *popper) heartbeat(ctx context.Context) (*v2.Status, error) {
	answer, err := p.client.Heartbeat(p.signed(ctx), &v2.HeartbeatRequest{Group: p.group, ClientType: v2.ClientType_PUSH_CONSUMER})
	return answer.GetStatus(), err
}

var everything = &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}

// send sends numbered messages: of a FIFO topic one after the other, all of one
// message group, of others several at once, since on a busy machine two hundred
// round trips in a row take longer than a wait for them.
func (p *popper) send(ctx context.Context, numbers ...int) error {
	atOnce := 1
	if !p.fifo {
		atOnce = 16
	}
	sending, ctx := errgroup.WithContext(ctx)
	sending.SetLimit(atOnce)
	for _, n := range numbers {
		sending.Go(func() error { return p.sendOne(ctx, n) })
	}
	return sending.Wait()
}

func (p *popper) sendOne(ctx context.Context, n int) error {
	system := &v2.SystemProperties{
		MessageId: uuid.NewString(), BodyEncoding: v2.Encoding_IDENTITY, MessageType: v2.MessageType_NORMAL,
		BornTimestamp: timestamppb.Now(), BornHost: "localhost",
	}
	if p.fifo {
		group := "orders"
		system.MessageType, system.MessageGroup = v2.MessageType_FIFO, &group
	}
	message := &v2.Message{Topic: p.topic, SystemProperties: system, Body: []byte(strconv.Itoa(n))}
	ctx, cancel := context.WithTimeout(p.signed(ctx), 10*time.Second)
	defer cancel()
	answer, err := p.client.SendMessage(ctx, &v2.SendMessageRequest{Messages: []*v2.Message{message}})
	if err := refusal(answer.GetStatus(), err); err != nil {
		return fmt.Errorf("send message %d: %w", n, err)
	}
	return nil
}

// findsRoute is the probe "the proxy knows where the topic is".
func (p *popper) findsRoute(ctx context.Context) error {
	answer, err := p.client.QueryRoute(p.signed(ctx), &v2.QueryRouteRequest{Topic: p.topic, Endpoints: p.endpoints})
	return refusal(answer.GetStatus(), err)
}

// refusal is what is wrong with an answer.
func refusal(status *v2.Status, err error) error {
	if err != nil {
		return err
	}
	if status.GetCode() != v2.Code_OK {
		return fmt.Errorf("the proxy says %s: %s", status.GetCode(), status.GetMessage())
	}
	return nil
}
