package kafkatxn

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

// killedID is the transactional ID of a producer that dies.
const killedID = "killed"

// dies is the fault of a producer that ends in mid-transaction without a word: its
// connections close, its transaction stays open. A plain record follows.
func (s *scene) dies(timeout time.Duration) testenv.Fault {
	return testenv.Fault{
		Name: "a producer dies in mid-transaction",
		Apply: func(ctx context.Context) error {
			c, err := kgo.NewClient(s.options("killed", s.transactional(killedID, timeout)...)...)
			if err != nil {
				return err
			}
			defer c.Close() // it does not end the transaction
			if err := opens(ctx, c, "unfinished"); err != nil {
				return err
			}
			return produces(s.plain, "after")(ctx)
		},
		Bites: s.frozen,
	}
}

func TestSuccessorFreesKilledProducersTransactionAtOnce(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:      "kafkatxn/killed-successor",
		Claim:     "a producer killed in mid-transaction is freed at once by its successor with the same transactional ID",
		Client:    underTest,
		Shares:    true,
		KnownGood: []testenv.Combination{{Broker: "3.5.1"}, {Broker: "3.9.2"}, {Broker: "4.4.0"}},
	})
	s := newScene(t, env, testenv.KafkaSpec{})
	committed := s.reader("read_committed", kgo.ReadCommitted(), s.orders)
	s.healthyPlain(committed)

	const farAway = time.Minute
	killed := s.dies(farAway)
	successor := s.client("successor", s.transactional(killedID, farAway)...)
	killed.Heal = func(ctx context.Context) error {
		_, _, err := successor.ProducerID(ctx)
		return err
	}
	dead := env.Inject(killed)
	env.Holds("the read_committed consumer waits for the transaction", 2*time.Second, committed.onlyRead("before"))
	dead.Heal()
	env.Recovers("the read_committed consumer reads past the dead transaction", 5*time.Second, committed.hasRead("before", "after"))
	env.Within("the successor commits", 10*time.Second, testenv.AtOnce(commits(successor, "successor's")))
	env.Within("its record shows, the dead producer's does not", 10*time.Second, committed.hasRead("before", "after", "successor's"))
}

func TestKilledProducersTransactionEndsWithItsTimeoutAndNotEarlier(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:      "kafkatxn/killed-timeout",
		Claim:     "a producer killed in mid-transaction, without a successor, is aborted at its timeout, not earlier",
		Client:    underTest,
		Shares:    true,
		KnownGood: []testenv.Combination{{Broker: "3.5.1"}, {Broker: "3.9.2"}, {Broker: "4.4.0"}},
	})
	s := newScene(t, env, testenv.KafkaSpec{})
	committed := s.reader("read_committed", kgo.ReadCommitted(), s.orders)
	s.healthyPlain(committed)

	const timeout = 6 * time.Second
	env.Inject(s.dies(timeout))
	described, err := s.admin.DescribeTransactions(env.Context(), s.id(killedID))
	require.NoError(t, err)
	d, err := described.On(s.id(killedID), nil)
	require.NoError(t, err)
	require.Equal(t, "Ongoing", d.State)
	// The broker's clock is this machine's.
	began := time.UnixMilli(d.StartTimestamp)
	stillOpen := time.Until(began.Add(timeout)) - 200*time.Millisecond
	require.Positive(t, stillOpen, "the transaction was over before it was looked at")
	env.Holds("the transaction stays open until its timeout", stillOpen, committed.onlyRead("before"))
	env.Recovers("the read_committed consumer reads on at the timeout", timeout+abortInterval+5*time.Second, committed.hasRead("before", "after"))
	env.Note("freed %v after the transaction began", time.Since(began).Round(time.Millisecond))
}
