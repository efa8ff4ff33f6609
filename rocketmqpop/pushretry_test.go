package rocketmqpop

import (
	"context"
	"errors"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/proto"

	"github.com/brokerfault/brokerfault/testenv"
)

const (
	sameAttempt = "the retry carries the attempt ID of the lost receive"
	backSoon    = "the messages of the lost answer are consumed"
	newAttempt  = "the retry after the deadline carries a new attempt ID"
	blocked     = "the queue is blocked while the proxy renews the lost messages, for 3 h by default: for all of 700 s with v5.1.3, " +
		"of 300 s with v5.1.4, and for 62 s with a renewal of 15 s at most"
	// onlyJava is what is said of it in public.
	onlyJava = "https://github.com/apache/rocketmq-clients/issues/1321 is the same of the Java client; no report of the Go client was found"
)

var pushRetry = testenv.Case{
	Name:   "rocketmqpop/push-retry-attempt",
	Claim:  "the push consumer's retry after a lost answer carries the attempt ID of the lost one",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1321",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Client: "v5.1.3", Evidence: newAttempt, Fails: sameAttempt, Open: onlyJava},
		{Client: "v5.1.4", Evidence: newAttempt, Fails: sameAttempt, Open: onlyJava},
	},
}

func TestPushConsumerRetriesLostReceiveWithItsAttemptID(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, pushRetry)
	s := newScene(t, env, setting{})
	relay, _ := s.pushBehindRelay(t, taken)
	env.Inject(s.loseAnswer(relay, newPopper(t, s, s.broker.Endpoint()), 1, 2, 3))
	s.witnessKept(t, relay)
	env.Recovers(sameAttempt, 15*time.Second, retried(relay, 1))
}

var pushBlocked = testenv.Case{
	Name:   "rocketmqpop/push-lost-answer",
	Claim:  "the messages of a lost answer reach the push consumer with its next receive",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1321",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Client: "v5.1.3", Evidence: blocked, Fails: backSoon, Open: onlyJava},
		{Client: "v5.1.4", Evidence: blocked, Fails: backSoon, Open: onlyJava},
	},
}

func TestPushConsumerConsumesMessagesOfLostAnswer(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, pushBlocked)
	s := newScene(t, env, setting{})
	relay, got := s.pushBehindRelay(t, taken)
	env.Inject(s.loseAnswer(relay, newPopper(t, s, s.broker.Endpoint()), 1, 2, 3))
	s.witnessKept(t, relay)
	s.consumesLost(got)
}

var attemptKept = testenv.Case{
	Name:   "rocketmqpop/push-lost-answer-attempt-kept",
	Claim:  "where something on the way writes the lost attempt ID into the retry, its messages reach the push consumer at once",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1321",
	Client: underTest,
	Shares: true,
}

// It shows that the attempt ID is all that the push consumer is missing, and
// that the check above can succeed.
func TestMessagesOfLostAnswerComeOnceTheAttemptIDIsKept(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, attemptKept)
	s := newScene(t, env, setting{})
	relay, got := s.pushBehindRelay(t, taken)
	relay.Add(&testenv.RelayRule{
		Method:  receiveMethod,
		Matches: func(testenv.RelayCall) bool { return lostAttempt(relay, 1) != "" },
		Rewrite: func(request []byte) []byte { return withAttempt(request, lostAttempt(relay, 1)) },
	})
	env.Inject(s.loseAnswer(relay, newPopper(t, s, s.broker.Endpoint()), 1, 2, 3))
	s.consumesLost(got)
}

// witnessKept has a client for a witness that asks as it should.
func (s *scene) witnessKept(t *testing.T, relay *testenv.Relay) {
	t.Helper()
	p := newPopper(t, s, s.broker.Endpoint())
	s.env.Witness("a receive with the attempt ID of the lost one finds its messages", func(ctx context.Context) error {
		got, err := p.pop(ctx, popping{attempt: lostAttempt(relay, 1)})
		if err == nil && len(got) == 0 {
			err = errors.New("it is answered empty")
		}
		return err
	})
}

func (s *scene) consumesLost(got *deliveries) {
	// Its receive takes up to 5 s, a poll of 2 and a request of 3; then it tries again at once.
	s.env.Recovers(backSoon, 15*time.Second, got.upTo(4))
	s.env.Within("in order, and none twice", time.Second, testenv.AtOnce(got.inOrder(4)))
	s.env.Within("all are consumed", 10*time.Second, s.allConsumed)
}

// withAttempt is the request of a receive with another attempt ID.
func withAttempt(request []byte, attempt string) []byte {
	var r v2.ReceiveMessageRequest
	if proto.Unmarshal(request, &r) != nil {
		return request
	}
	r.AttemptId = &attempt
	changed, err := proto.Marshal(&r)
	if err != nil {
		return request
	}
	return changed
}

// pushBehindRelay starts a push consumer behind a relay, and lets it consume
// message 0. Its listener takes a message if takes says so, of its number and of
// how often it was delivered by now.
func (s *scene) pushBehindRelay(t *testing.T, takes func(number, times int) bool) (*testenv.Relay, *deliveries) {
	t.Helper()
	relay, got := s.broker.Relay(), &deliveries{}
	s.keepLog()
	s.push(t, relay.Address(), s.group, got.listener(takes))
	s.sends(newPopper(t, s, s.broker.Endpoint()), 0)
	s.env.Within("the push consumer consumes before the fault", 15*time.Second, got.upTo(1))
	s.env.Within("and acknowledges", 10*time.Second, s.allConsumed)
	return relay, got
}

func taken(int, int) bool { return true }
