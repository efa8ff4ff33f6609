package kafkatxn

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

func TestZombieIsFencedAndItsRecordsNeverShow(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:      "kafkatxn/zombie",
		Claim:     "a zombie is fenced with a typed error; its records never show, its successor's do",
		Client:    underTest,
		Shares:    true,
		KnownGood: []testenv.Combination{{Broker: "3.5.1"}, {Broker: "3.9.2"}, {Broker: "4.4.0"}},
	})
	s := newScene(t, env, testenv.KafkaSpec{})
	committed := s.reader("read_committed", kgo.ReadCommitted(), s.orders)
	uncommitted := s.reader("read_uncommitted", kgo.ReadUncommitted(), s.orders)
	zombie := s.client("zombie", s.transactional("worker", time.Minute)...)
	successor := s.client("successor", s.transactional("worker", time.Minute)...)

	s.healthy("the first producer commits", testenv.AtOnce(commits(zombie, "before")), committed)
	env.Inject(testenv.Fault{
		Name: "a successor takes the transactional ID over in mid-transaction",
		Apply: func(ctx context.Context) error {
			if err := opens(ctx, zombie, "zombie's"); err != nil {
				return err
			}
			_, _, err := successor.ProducerID(ctx)
			return err
		},
		// The first producer's epoch is known no more.
		Bites: s.inState("worker", "CompleteAbort", "Empty"),
	})
	env.Within("the zombie's next record is refused as fenced", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		return fenced(zombie.ProduceSync(ctx, record("zombie's second")).FirstErr())
	}))
	env.Within("its commit is refused", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		err := zombie.EndTransaction(ctx, kgo.TryCommit)
		env.Note("the zombie's commit: %v", err)
		if err == nil {
			return errors.New("the commit was reported as done")
		}
		return ctx.Err()
	}))
	env.Recovers("the successor commits", 10*time.Second, commits(successor, "successor's"))
	env.Within("only the successor's record shows", 10*time.Second, committed.hasRead("before", "successor's"))
	env.Within("the zombie's first was in the log, its second never", 10*time.Second, uncommitted.hasRead("before", "zombie's", "successor's"))
}

// fenced succeeds if err is one of those that say so.
func fenced(err error) error {
	if errors.Is(err, kerr.InvalidProducerEpoch) || errors.Is(err, kerr.ProducerFenced) {
		return nil
	}
	if err == nil {
		return errors.New("the zombie's record was taken")
	}
	return fmt.Errorf("not a fence: %w", err)
}
