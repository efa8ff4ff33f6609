package kafkatxn

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv"
)

// lateID is the transactional ID of a producer whose batch is late.
const lateID = "late"

// late is a scene with a transactional client. Its transaction has a record already
// when the next is held on the wire until the transaction is aborted.
type late struct {
	*scene
	client    *kgo.Client
	committed *reader
	// outcome is what the client was told of its late record.
	outcome chan error
}

func newLate(t *testing.T, env *testenv.Env, version string) *late {
	t.Helper()
	s := newScene(t, env, testenv.KafkaSpec{Version: version})
	env.Witness("a fresh read_committed consumer reads all", s.freshReads("before", "after"))
	return &late{
		scene:     s,
		client:    s.client("client", s.transactional(lateID, transactionTimeout)...),
		committed: s.reader("read_committed", kgo.ReadCommitted(), s.orders),
		outcome:   make(chan error, 1),
	}
}

// aborted holds the late batch, has its transaction ended, and lets it go once the
// coordinator has aborted. It returns when the broker has answered it.
func (l *late) aborted(end testenv.Probe) {
	l.healthyPlain(l.committed)
	l.env.Within("a transaction is open", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		return opens(ctx, l.client, "aborted")
	}))
	produce := kmsg.Produce.Int16()
	held := l.env.Inject(l.kafka.Hold(testenv.KafkaFrames{Key: produce, Nth: 1}).Then(func(context.Context) error {
		l.client.Produce(l.env.Context(), record("late"), func(_ *kgo.Record, err error) { l.outcome <- err })
		return nil
	}))
	l.env.Within("the transaction is ended", 10*time.Second, testenv.AtOnce(end))
	l.env.Within("the coordinator has aborted it", transactionTimeout+abortInterval+10*time.Second, l.inState(lateID, "CompleteAbort"))
	answered := l.kafka.Answers(produce)
	held.Heal()
	l.env.Within("the broker answers the late batch", 10*time.Second, func(context.Context) error {
		if l.kafka.Answers(produce) == answered {
			return errors.New("no answer has come to the link")
		}
		return nil
	})
	l.env.Within("a record is stored behind it", 10*time.Second, produces(l.plain, "after"))
}

// givesUp is what a client does that does not wait for a record in flight: it throws
// the record away and aborts, with the epoch that the record has as well.
func (l *late) givesUp(ctx context.Context) error {
	l.client.UnsafeAbortBufferedRecords()
	return l.client.EndTransaction(ctx, kgo.TryAbort)
}

// isSilent leaves the end to the coordinator.
func isSilent(context.Context) error { return nil }

func TestLateBatchOfAbortedTransactionHangsUntilMarkerReproduces(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:      "kafkatxn/late-abort-reproduces",
		Claim:     "on 3.5.1 a batch that arrives after its client's abort hangs for good, and an abort marker frees its partition",
		Issue:     kip890,
		Client:    underTest,
		Shares:    true,
		KnownGood: []testenv.Combination{{Broker: "3.5.1"}},
	})
	l := newLate(t, env, "3.5.1")
	l.aborted(l.givesUp)
	env.Holds("the read_committed consumer starves, past the transaction's timeout", hangLasts, l.committed.onlyRead("before"))
	marked := env.Inject(testenv.Fault{
		Name:  "the late batch hangs",
		Apply: isSilent, // it has happened already
		Bites: l.frozen,
		Heal:  l.abortMarkers,
	})
	marked.Heal()
	env.Recovers("the read_committed consumer moves on after the abort marker", 10*time.Second, l.committed.hasRead("before", "after"))
	env.Within("nothing is open", 5*time.Second, l.stable)
}

func TestLateBatchOfAbortedTransactionStarvesNobody(t *testing.T) {
	t.Parallel()
	for _, version := range testenv.KafkaVersions("4.4.0") {
		t.Run(version, func(t *testing.T) {
			env := testenv.New(t, testenv.Case{
				Name:   "kafkatxn/late-abort",
				Claim:  "a batch that arrives after its client's abort is refused and starves nobody",
				Issue:  kip890,
				Client: underTest,
				Shares: true,
				KnownBad: []testenv.Combination{
					{Broker: "3.5.1", Evidence: "the batch is stored; end offset 5, last stable offset 3 for as long as was looked"},
				},
				KnownGood: []testenv.Combination{{Broker: "3.9.2"}, {Broker: "4.4.0"}},
			})
			l := newLate(t, env, version)
			l.aborted(l.givesUp)
			env.Recovers("the read_committed consumer reads on", 20*time.Second, l.committed.hasRead("before", "after"))
			env.Within("nothing is open", 5*time.Second, l.stable)
		})
	}
}

func TestLateBatchOfTimedOutTransactionIsFenced(t *testing.T) {
	t.Parallel()
	for _, version := range testenv.KafkaVersions("3.5.1", "4.4.0") {
		t.Run(version, func(t *testing.T) {
			env := testenv.New(t, testenv.Case{
				Name:      "kafkatxn/late-timeout",
				Claim:     "a batch that arrives after the coordinator's own abort is fenced by its epoch, on 3.5.1 as well, and starves nobody",
				Issue:     kip890,
				Client:    underTest,
				Shares:    true,
				KnownGood: []testenv.Combination{{Broker: "3.5.1"}, {Broker: "3.9.2"}, {Broker: "4.4.0"}},
			})
			l := newLate(t, env, version)
			l.aborted(isSilent)
			env.Within("the client is told that it is fenced", 10*time.Second, func(ctx context.Context) error {
				select {
				case err := <-l.outcome:
					return testenv.AtOnce(func(context.Context) error { return fenced(err) })(ctx)
				default:
					return errors.New("the late record has no outcome yet")
				}
			})
			env.Recovers("the read_committed consumer reads on", 20*time.Second, l.committed.hasRead("before", "after"))
			env.Within("nothing is open", 5*time.Second, l.stable)
		})
	}
}
