package rocketmqpop

import (
	"context"
	"fmt"
	"testing"
	"time"

	rmq "github.com/apache/rocketmq-clients/golang/v5"
	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/brokerfault/brokerfault/testenv"
)

// failures are the two ways in which a call can fail: the connection's, and the
// proxy's own in an answer. The call does not reach the proxy.
func unavailable(method string) *testenv.RelayRule {
	return &testenv.RelayRule{Method: method, Unmade: true, Fail: status.Error(codes.Unavailable, "the proxy is away")}
}

func refused(t *testing.T, method string, answer proto.Message) *testenv.RelayRule {
	t.Helper()
	encoded, err := proto.Marshal(answer)
	require.NoError(t, err)
	return &testenv.RelayRule{Method: method, Unmade: true, Answer: encoded}
}

var internalError = &v2.Status{Code: v2.Code_INTERNAL_SERVER_ERROR, Message: "the broker is away"}

var ackFails = testenv.Case{
	Name:   "rocketmqpop/ack-fails",
	Claim:  "a message whose acknowledgement failed once is acknowledged after all, and the queue goes on",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1265",
	Client: underTest,
}

func TestFailedAckIsMadeAgain(t *testing.T) {
	env := testenv.New(t, ackFails)
	failedAck(t, env, unavailable("AckMessage"))
}

var ackRefused = testenv.Case{
	Name:   "rocketmqpop/ack-refused",
	Claim:  "a message whose acknowledgement was refused once is acknowledged after all, and the queue goes on",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1265",
	Client: underTest,
}

func TestRefusedAckIsMadeAgain(t *testing.T) {
	env := testenv.New(t, ackRefused)
	failedAck(t, env, refused(t, "AckMessage", &v2.AckMessageResponse{Status: internalError}))
}

func failedAck(t *testing.T, env *testenv.Env, rule *testenv.RelayRule) {
	t.Helper()
	s := newScene(t, env, setting{})
	relay, got := s.pushBehindRelay(t)
	sender := newPopper(t, s, s.broker.Endpoint())
	env.Inject(relay.Fault("an acknowledgement fails", rule, func(ctx context.Context) error { return sender.send(ctx, 1) }))
	s.sends(sender, 2)
	env.Recovers("the messages behind it are consumed", 15*time.Second, got.upTo(3))
	env.Recovers("all are acknowledged", 15*time.Second, s.allConsumed)
	env.Within("in order, and none twice", time.Second, testenv.AtOnce(got.inOrder(3)))
}

var nackFails = testenv.Case{
	Name:   "rocketmqpop/change-invisible-fails",
	Claim:  "a message that was not consumed comes again although changing its invisible time failed once",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1265",
	Client: underTest,
}

func TestMessageComesAgainAfterFailedChangeOfInvisibleTime(t *testing.T) {
	env := testenv.New(t, nackFails)
	failedNack(t, env, unavailable("ChangeInvisibleDuration"))
}

var nackRefused = testenv.Case{
	Name:   "rocketmqpop/change-invisible-refused",
	Claim:  "a message that was not consumed comes again although changing its invisible time was refused once",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1265",
	Client: underTest,
}

func TestMessageComesAgainAfterRefusedChangeOfInvisibleTime(t *testing.T) {
	env := testenv.New(t, nackRefused)
	failedNack(t, env, refused(t, "ChangeInvisibleDuration", &v2.ChangeInvisibleDurationResponse{Status: internalError}))
}

// failedNack has a listener that does not take the first delivery of a message.
func failedNack(t *testing.T, env *testenv.Env, rule *testenv.RelayRule) {
	t.Helper()
	s := newScene(t, env, setting{normal: true})
	relay, got := s.broker.Relay(), &deliveries{}
	s.keepLog(t)
	s.push(t, relay.Address(), s.group, func(m *rmq.MessageView) rmq.ConsumerResult {
		if got.add(m) == 1 && string(m.GetBody()) == "1" {
			return rmq.FAILURE
		}
		return rmq.SUCCESS
	})
	sender := newPopper(t, s, s.broker.Endpoint())
	s.sends(sender, 0)
	env.Within("the push consumer consumes before the fault", 15*time.Second, got.upTo(1))
	env.Inject(relay.Fault("a change of the invisible time fails", rule, func(ctx context.Context) error { return sender.send(ctx, 1) }))
	s.sends(sender, 2)
	env.Recovers("the message comes again", 20*time.Second, got.times(1, 2))
	env.Recovers("the messages behind it are consumed", 20*time.Second, got.upTo(3))
	env.Within("the others came once", time.Second, testenv.AtOnce(func(ctx context.Context) error {
		if err := got.times(0, 1)(ctx); err != nil {
			return err
		}
		return got.times(2, 1)(ctx)
	}))
}

var forwardFails = testenv.Case{
	Name:   "rocketmqpop/dead-letter-fails",
	Claim:  "a message whose way to the dead-letter queue failed once gets there, once, and the queue goes on",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1266",
	Client: underTest,
}

func TestFailedForwardToDeadLetterQueueIsMadeAgain(t *testing.T) {
	env := testenv.New(t, forwardFails)
	failedForward(t, env, unavailable(forwardMethod))
}

var forwardRefused = testenv.Case{
	Name:   "rocketmqpop/dead-letter-refused",
	Claim:  "a message whose way to the dead-letter queue was refused once gets there, once, and the queue goes on",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1266",
	Client: underTest,
}

func TestRefusedForwardToDeadLetterQueueIsMadeAgain(t *testing.T) {
	env := testenv.New(t, forwardRefused)
	failedForward(t, env, refused(t, forwardMethod, &v2.ForwardMessageToDeadLetterQueueResponse{Status: internalError}))
}

const forwardMethod = "ForwardMessageToDeadLetterQueue"

// failedForward has a listener that never takes message 1, of which there are two
// deliveries at most.
func failedForward(t *testing.T, env *testenv.Env, rule *testenv.RelayRule) {
	t.Helper()
	s := newScene(t, env, setting{retries: 1})
	relay, got := s.broker.Relay(), &deliveries{}
	s.keepLog(t)
	s.push(t, relay.Address(), s.group, func(m *rmq.MessageView) rmq.ConsumerResult {
		got.add(m)
		if string(m.GetBody()) == "1" {
			return rmq.FAILURE
		}
		return rmq.SUCCESS
	})
	sender := newPopper(t, s, s.broker.Endpoint())
	s.sends(sender, 0)
	env.Within("the push consumer consumes before the fault", 15*time.Second, got.upTo(1))
	env.Inject(relay.Fault("a forward to the dead-letter queue fails", rule, func(ctx context.Context) error { return sender.send(ctx, 1) }))
	s.sends(sender, 2)
	env.Recovers("the messages behind it are consumed", 20*time.Second, got.upTo(3))
	env.Recovers("it is in the dead-letter queue", 20*time.Second, s.dead(1))
	env.Recovers("the queue is at its end", 20*time.Second, s.allConsumed)
	env.Holds("it is there once", 2*time.Second, s.dead(1))
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
