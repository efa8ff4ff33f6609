package rocketmqpop

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/brokerfault/brokerfault/testenv"
)

var reentry = testenv.Case{
	Name:   "rocketmqpop/re-entry",
	Claim:  "a retry with the same attempt ID finds the same messages at once, and no other attempt finds them",
	Issue:  "https://github.com/apache/rocketmq/issues/10827",
	Client: underTest,
	Shares: true,
}

func TestSameAttemptFindsSameMessages(t *testing.T) {
	t.Parallel()
	reenters(t, reentry, setting{})
}

func reenters(t *testing.T, c testenv.Case, o setting) {
	t.Helper()
	env := testenv.New(t, c)
	s := newScene(t, env, o)
	p := newPopper(t, s, s.broker.Endpoint())

	env.Within("two messages are sent", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error { return p.send(ctx, 0, 1) }))
	env.Inject(s.leave(p, popping{attempt: "lost"}, 0, 1))
	var again []*v2.Message
	env.Recovers("the same attempt finds the same two", 10*time.Second, testenv.AtOnce(func(ctx context.Context) (err error) {
		began := time.Now()
		if again, err = p.pop(ctx, popping{attempt: "lost"}); err != nil {
			return err
		}
		if took := time.Since(began); took >= shortPoll {
			return fmt.Errorf("the answer took %v, as long as a poll", took)
		}
		return onceDelivered(again, 0, 1)
	}))
	env.Within("the two are acknowledged", 5*time.Second, testenv.AtOnce(func(ctx context.Context) error { return p.ack(ctx, again...) }))
	env.Within("a new attempt finds nothing", 5*time.Second, testenv.AtOnce(p.findsNothing))
	env.Within("two more are sent", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error { return p.send(ctx, 2, 3) }))
	env.Within("a new attempt finds the next two, in order", 5*time.Second, testenv.AtOnce(p.finds(popping{}, 2, 3)))
	env.Within("all are consumed", 10*time.Second, s.allConsumed)
}

// leave is the fault of a pop whose answer is of no use to its client: its
// messages are invisible, and nobody acknowledges them.
func (s *scene) leave(p *popper, o popping, want ...int) testenv.Fault {
	return testenv.Fault{
		Name: fmt.Sprintf("messages %v are popped and left", want),
		Apply: func(ctx context.Context) error {
			got, err := p.pop(ctx, o)
			if err != nil {
				return err
			}
			return onceDelivered(got, want...)
		},
		Bites: p.findsNothing,
	}
}

// onceDelivered wants these messages, each in its first delivery.
func onceDelivered(got []*v2.Message, want ...int) error {
	if err := same(want, numbers(got)); err != nil {
		return err
	}
	if i := slices.IndexFunc(got, func(m *v2.Message) bool { return m.GetSystemProperties().GetDeliveryAttempt() != 1 }); i >= 0 {
		return fmt.Errorf("message %d is in delivery %d", want[i], got[i].GetSystemProperties().GetDeliveryAttempt())
	}
	return nil
}
