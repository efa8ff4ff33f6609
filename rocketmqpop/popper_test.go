package rocketmqpop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/brokerfault/brokerfault/testenv"
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
	p, err := dialPopper(s, address)
	require.NoError(t, err)
	s.env.Closes("a popper", p.close)
	return p
}

func dialPopper(s *scene, address string) (*popper, error) {
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
	if err := p.introduce(s.env.Context()); err != nil {
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
	if _, err := stream.Recv(); err != nil {
		return err
	}
	answer, err := p.client.Heartbeat(p.signed(ctx), &v2.HeartbeatRequest{Group: p.group, ClientType: kind})
	return refusal(answer.GetStatus(), err)
}

var everything = &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}

// send sends numbered messages, one after the other, all of one message group
// if the topic is FIFO.
func (p *popper) send(ctx context.Context, numbers ...int) error {
	for _, n := range numbers {
		system := &v2.SystemProperties{
			MessageId: uuid.NewString(), BodyEncoding: v2.Encoding_IDENTITY, MessageType: v2.MessageType_NORMAL,
			BornTimestamp: timestamppb.Now(), BornHost: "localhost",
		}
		if p.fifo {
			group := "orders"
			system.MessageType, system.MessageGroup = v2.MessageType_FIFO, &group
		}
		message := &v2.Message{Topic: p.topic, SystemProperties: system, Body: []byte(strconv.Itoa(n))}
		one, cancel := context.WithTimeout(p.signed(ctx), 10*time.Second)
		answer, err := p.client.SendMessage(one, &v2.SendMessageRequest{Messages: []*v2.Message{message}})
		cancel()
		if err := refusal(answer.GetStatus(), err); err != nil {
			return fmt.Errorf("send message %d: %w", n, err)
		}
	}
	return nil
}

// popping is one pop. The zero value pops 32 with a new attempt ID, which stay
// invisible for 30 s, and waits for the least time that the proxy takes.
type popping struct {
	attempt   string
	batch     int32
	invisible time.Duration
	wait      time.Duration
	renewed   bool
}

// Defaults of a pop.
const (
	longInvisible = 30 * time.Second
	shortPoll     = time.Second
)

// pop pops. No message in time is no error.
func (p *popper) pop(ctx context.Context, o popping) ([]*v2.Message, error) {
	if o.attempt == "" {
		o.attempt = uuid.NewString()
	}
	if o.batch == 0 {
		o.batch = 32
	}
	if o.invisible == 0 {
		o.invisible = longInvisible
	}
	if o.wait == 0 {
		o.wait = shortPoll
	}
	ctx, cancel := context.WithTimeout(p.signed(ctx), o.wait+10*time.Second)
	defer cancel()
	stream, err := p.client.ReceiveMessage(ctx, &v2.ReceiveMessageRequest{
		Group:            p.group,
		MessageQueue:     &v2.MessageQueue{Topic: p.topic, Broker: &v2.Broker{Endpoints: p.endpoints}},
		FilterExpression: everything, BatchSize: o.batch, AttemptId: &o.attempt, AutoRenew: o.renewed,
		InvisibleDuration: durationpb.New(o.invisible), LongPollingTimeout: durationpb.New(o.wait),
	})
	if err != nil {
		return nil, fmt.Errorf("pop: %w", err)
	}
	var found []*v2.Message
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("pop: %w", err)
		}
		if message := answer.GetMessage(); message != nil {
			found = append(found, message)
		}
		if s := answer.GetStatus(); s != nil && s.GetCode() != v2.Code_MESSAGE_NOT_FOUND {
			if err := refusal(s, nil); err != nil {
				return nil, fmt.Errorf("pop: %w", err)
			}
		}
	}
}

// ack acknowledges messages.
func (p *popper) ack(ctx context.Context, messages ...*v2.Message) error {
	request := &v2.AckMessageRequest{Group: p.group, Topic: p.topic}
	for _, m := range messages {
		request.Entries = append(request.Entries, &v2.AckMessageEntry{
			MessageId: m.GetSystemProperties().GetMessageId(), ReceiptHandle: m.GetSystemProperties().GetReceiptHandle(),
		})
	}
	ctx, cancel := context.WithTimeout(p.signed(ctx), 10*time.Second)
	defer cancel()
	answer, err := p.client.AckMessage(ctx, request)
	if err := refusal(answer.GetStatus(), err); err != nil {
		return fmt.Errorf("acknowledge: %w", err)
	}
	return nil
}

// changeInvisible makes a message visible again after this time.
func (p *popper) changeInvisible(ctx context.Context, m *v2.Message, after time.Duration) error {
	ctx, cancel := context.WithTimeout(p.signed(ctx), 10*time.Second)
	defer cancel()
	answer, err := p.client.ChangeInvisibleDuration(ctx, &v2.ChangeInvisibleDurationRequest{
		Group: p.group, Topic: p.topic, ReceiptHandle: m.GetSystemProperties().GetReceiptHandle(),
		MessageId: m.GetSystemProperties().GetMessageId(), InvisibleDuration: durationpb.New(after),
	})
	if err := refusal(answer.GetStatus(), err); err != nil {
		return fmt.Errorf("change the invisible time: %w", err)
	}
	return nil
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

// numbers are what is in the messages.
func numbers(messages []*v2.Message) []int {
	var all []int
	for _, m := range messages {
		n, err := strconv.Atoi(string(m.GetBody()))
		if err != nil {
			n = -1
		}
		all = append(all, n)
	}
	return all
}

// finds is the probe "a pop finds exactly these, in this order, for the first time", which
// acknowledges them.
func (p *popper) finds(o popping, want ...int) testenv.Probe {
	return func(ctx context.Context) error {
		got, err := p.pop(ctx, o)
		if err != nil {
			return err
		}
		if err := same(want, numbers(got)); err != nil {
			return err
		}
		return p.ack(ctx, got...)
	}
}

// findsNothing is the probe "a pop of a new attempt sits out its poll". At the end
// of a wait it asks no more: the proxy refuses a poll that would be cut short.
func (p *popper) findsNothing(ctx context.Context) error {
	if end, bounded := ctx.Deadline(); bounded && time.Until(end) < shortPoll+time.Second {
		return nil
	}
	got, err := p.pop(ctx, popping{})
	if err != nil {
		return err
	}
	return same(nil, numbers(got))
}
