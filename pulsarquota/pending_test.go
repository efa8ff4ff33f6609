package pulsarquota

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

var pendingSends = testenv.Case{
	Name:   "pulsarquota/pending-sends",
	Claim:  "every pending send has exactly one outcome, a refused one the quota error, and what was acknowledged is there, once and in order",
	Issue:  "https://github.com/apache/pulsar-client-go/pull/1457",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Client: "v0.18.0", Evidence: "sends during the block end in timeouts, not in the quota error"},
	},
}

// onlyOnce has the broker drop what a client sends again: without it, a send that
// was stored but not acknowledged when the broker closed the producer is stored
// twice, which is allowed there (seen on 2.11.0). The snapshots hold up the
// backlog as a subscription does, so there is one for each entry.
var onlyOnce = map[string]string{
	"brokerDeduplicationEnabled":         "true",
	"brokerDeduplicationEntriesInterval": "1",
}

func TestEveryPendingSendHasExactlyOneOutcome(t *testing.T) {
	env := testenv.New(t, pendingSends)
	s := newScene(t, env, "producer_exception", onlyOnce)
	client, err := newClient(env, s.broker, "client")
	require.NoError(t, err)
	env.Closes("the client", client.Close)
	options := promptly(producerOptions(s.topic))
	options.SendTimeout = 10 * time.Second
	// Many at once would all go into one ledger, which then stays above the
	// quota until it is full (see the limits in doc.go).
	options.MaxPendingMessages = maxPending
	producer, err := client.CreateProducer(options)
	require.NoError(t, err)
	all := newOutcomes()

	all.sendAsync(env.Context(), producer)
	env.Within("the producer sends before the fault", 10*time.Second, all.settled)
	quota := env.Inject(s.exceed(func(ctx context.Context) error {
		for all.failed() == 0 && ctx.Err() == nil {
			all.sendAsync(ctx, producer)
		}
		return ctx.Err()
	}))
	env.Within("every send that was pending at the refusal has an answer", 10*time.Second, all.settled)
	env.Within("twenty sends during the block are taken", 15*time.Second, testenv.AtOnce(func(context.Context) error {
		for range 20 {
			all.sendAsync(env.Context(), producer)
		}
		return nil
	}))
	env.Within("every send during the block has an answer", 15*time.Second, all.settled)
	env.Evidence("refused_sends", all.failed())
	const typed = "every send has one answer, and a refused one the quota error"
	env.Within(typed, time.Second, testenv.AtOnce(all.check(isQuotaError)))

	quota.Heal()
	env.Recovers("the same producer sends again", 30*time.Second, all.sendsAgain(producer))
	env.Within(typed, time.Second, testenv.AtOnce(all.check(isQuotaError)))
	env.Evidence("acknowledged_sends", all.acknowledged())
	env.Within("what was acknowledged is read back, once and in order", 30*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		return all.readBack(ctx, client, s.topic)
	}))
}
