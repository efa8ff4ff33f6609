package rocketmqpop

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/brokerfault/brokerfault/testenv"
)

// failing are the two ways in which a call fails: with the connection's error, and
// with the proxy's own in an answer. Neither reaches the proxy. Each is done once.
func failing(t *testing.T, method string, answer proto.Message) []*testenv.RelayRule {
	t.Helper()
	refused, err := proto.Marshal(answer)
	require.NoError(t, err)
	return []*testenv.RelayRule{
		{Method: method, Unmade: true, Fail: status.Error(codes.Unavailable, "the proxy is away")},
		{Method: method, Unmade: true, Answer: refused},
	}
}

var internalError = &v2.Status{Code: v2.Code_INTERNAL_SERVER_ERROR, Message: "the broker is away"}

var ackFails = testenv.Case{
	Name:      "rocketmqpop/ack-fails",
	Claim:     "a message whose acknowledgement failed once is acknowledged after all, and the queue goes on",
	Issue:     "https://github.com/apache/rocketmq-clients/issues/1265",
	Client:    underTest,
	Shares:    true,
	KnownGood: []testenv.Combination{{Client: "v5.1.3"}, {Client: "v5.1.4"}},
}

func TestFailedAckIsMadeAgain(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, ackFails)
	s := newScene(t, env, setting{})
	relay, got := s.pushBehindRelay(t, taken)
	sender := newPopper(t, s, s.broker.Endpoint())
	for i, rule := range failing(t, "AckMessage", &v2.AckMessageResponse{Status: internalError}) {
		n := 1 + 2*i
		env.Inject(relay.Fault("an acknowledgement fails", rule, func(ctx context.Context) error { return sender.send(ctx, n) }))
		s.sends(sender, n+1)
		env.Recovers("the message behind it is consumed", 15*time.Second, got.upTo(n+2))
		env.Recovers("all are acknowledged", 15*time.Second, s.allConsumed)
	}
	env.Within("in order, and none twice", time.Second, testenv.AtOnce(got.inOrder(5)))
}

var nackFails = testenv.Case{
	Name:      "rocketmqpop/change-invisible-fails",
	Claim:     "a message that was not consumed comes again although changing its invisible time failed once",
	Issue:     "https://github.com/apache/rocketmq-clients/issues/1265",
	Client:    underTest,
	Shares:    true,
	KnownGood: []testenv.Combination{{Client: "v5.1.3"}, {Client: "v5.1.4"}},
}

func TestMessageComesAgainAfterFailedChangeOfInvisibleTime(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, nackFails)
	s := newScene(t, env, setting{normal: true})
	relay, got := s.pushBehindRelay(t, func(n, times int) bool { return times > 1 || n%2 == 0 })
	sender := newPopper(t, s, s.broker.Endpoint())
	for i, rule := range failing(t, "ChangeInvisibleDuration", &v2.ChangeInvisibleDurationResponse{Status: internalError}) {
		n := 1 + 2*i
		env.Inject(relay.Fault("a change of the invisible time fails", rule, func(ctx context.Context) error { return sender.send(ctx, n) }))
		s.sends(sender, n+1)
		env.Recovers("the message comes again", 20*time.Second, got.times(n, 2))
		env.Recovers("the message behind it is consumed", 20*time.Second, got.times(n+1, 1))
	}
	env.Holds("none comes more often", 2*time.Second, func(ctx context.Context) error {
		return errors.Join(got.times(1, 2)(ctx), got.times(2, 1)(ctx), got.times(3, 2)(ctx), got.times(4, 1)(ctx))
	})
}

var forwardFails = testenv.Case{
	Name:   "rocketmqpop/dead-letter-fails",
	Claim:  "a message whose way to the dead-letter queue failed once gets there, once, and the queue goes on",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1266",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{{
		Client: "v5.1.3", Evidence: "20 s later the message is in no queue: the second try to forward it is an acknowledgement, so it is lost",
	}},
	KnownGood: []testenv.Combination{{Client: "v5.1.4"}},
}

func TestFailedForwardToDeadLetterQueueIsMadeAgain(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, forwardFails)
	// Odd messages are never taken; of each there are two deliveries at most.
	s := newScene(t, env, setting{retries: 1})
	relay, got := s.pushBehindRelay(t, func(n, _ int) bool { return n%2 == 0 })
	sender := newPopper(t, s, s.broker.Endpoint())
	for i, rule := range failing(t, "ForwardMessageToDeadLetterQueue", &v2.ForwardMessageToDeadLetterQueueResponse{Status: internalError}) {
		n := 1 + 2*i
		env.Inject(relay.Fault("a forward to the dead-letter queue fails", rule, func(ctx context.Context) error { return sender.send(ctx, n) }))
		s.sends(sender, n+1)
		env.Recovers("the message behind it is consumed", 20*time.Second, got.upTo(n+2))
		env.Recovers("it is in the dead-letter queue", 20*time.Second, s.dead(int64(1+i)))
		env.Recovers("the queue is at its end", 20*time.Second, s.allConsumed)
	}
	env.Holds("each is there once", 2*time.Second, s.dead(2))
}

// dead is the probe "the group's dead-letter queue has had this many messages".
func (s *scene) dead(want int64) testenv.Probe {
	return func(ctx context.Context) error {
		end, err := s.broker.MaxOffset(ctx, "%DLQ%"+s.group, 0)
		if err != nil {
			return err
		}
		if end != want {
			return fmt.Errorf("the dead-letter queue has had %d messages", end)
		}
		return nil
	}
}
