package kafkatxn

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

// abortInterval is how often the brokers of testenv look for transactions over time.
const abortInterval = time.Second

func TestTimedOutTransactionIsNeverReportedCommittedAndRebuiltClientGoesOn(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:      "kafkatxn/timed-out",
		Claim:     "the commit of a transaction that the broker has timed out fails, nothing of it shows, and a client rebuilt with the same transactional ID commits the next",
		Issue:     "https://github.com/confluentinc/librdkafka/issues/3297",
		Client:    underTest,
		Shares:    true,
		KnownGood: []testenv.Combination{{Broker: "3.5.1"}, {Broker: "3.9.2"}, {Broker: "4.4.0"}},
	})
	s := newScene(t, env, testenv.KafkaSpec{})
	committed := s.reader("read_committed", kgo.ReadCommitted(), s.orders)
	const id = "slow"
	slow := s.client("client", s.transactional(id, transactionTimeout)...)
	s.healthy("the client commits", testenv.AtOnce(commits(slow, "before")), committed)
	env.Inject(testenv.Fault{
		Name:        "the transaction is timed out by the broker",
		Apply:       func(ctx context.Context) error { return opens(ctx, slow, "too late") },
		Bites:       s.inState(id, "CompleteAbort"),
		BitesWithin: transactionTimeout + abortInterval + 10*time.Second,
	})
	env.Within("its commit fails, and in time", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		err := slow.EndTransaction(ctx, kgo.TryCommit)
		env.Note("the commit of the timed out transaction: %v", err)
		if err == nil {
			return errors.New("the commit was reported as done")
		}
		if ctx.Err() != nil {
			return errors.New("the commit did not return by itself")
		}
		return nil
	}))
	env.Within("it can be aborted", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error { return aborts(ctx, slow) }))
	s.notesWhetherItGoesOn(slow)
	rebuilt := s.client("rebuilt", s.transactional(id, transactionTimeout)...)
	env.Recovers("a rebuilt client commits the next transaction", 20*time.Second, commits(rebuilt, "next"))
	env.Within("the next shows and nothing of the timed out one", 10*time.Second, committed.hasRead("before", "next"))
}

// notesWhetherItGoesOn tells whether the same client can begin another transaction,
// which it need not: a fence is final for a client.
func (s *scene) notesWhetherItGoesOn(c *kgo.Client) {
	err := c.BeginTransaction()
	goesOn := 0
	if err == nil {
		goesOn = 1
		err = aborts(s.env.Context(), c)
	}
	s.env.Evidence("same_client_begins_anew", goesOn)
	s.env.Note("the same client's next transaction: %v", err)
}
