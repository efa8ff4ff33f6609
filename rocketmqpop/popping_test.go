package rocketmqpop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/brokerfault/brokerfault/testenv"
)

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
// of a wait it asks no more, for the proxy refuses a poll that would be cut short, and
// tells nothing new.
func (p *popper) findsNothing(ctx context.Context) error {
	if end, bounded := ctx.Deadline(); bounded && time.Until(end) < shortPoll+time.Second {
		<-ctx.Done()
		return ctx.Err()
	}
	return p.popsNothing(ctx, popping{})
}

func (p *popper) popsNothing(ctx context.Context, o popping) error {
	got, err := p.pop(ctx, o)
	if err != nil {
		return err
	}
	return same(nil, numbers(got))
}
