package pulsarquota

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokerfault/brokerfault/testenv"
)

// countsOfIncident are the lines that told the bad client from the good one.
var countsOfIncident = map[string]string{
	"stop_reconnecting":       "stop reconnecting",
	"reconnecting_to_broker":  "Reconnecting to broker",
	"will_retry_reconnecting": "will retry reconnecting",
}

var selfHeal = testenv.Case{
	Name:   "pulsarquota/self-heal",
	Claim:  "the same producer sends again after the backlog is cleared",
	Issue:  "https://github.com/apache/pulsar-client-go/pull/1457",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Client: "v0.12.0", Evidence: "not recovered in 30 s after the clearing, stop_reconnecting 1, will_retry_reconnecting 0; a fresh producer sends"},
		{Client: "v0.17.0", Evidence: "not recovered in 30 s after the clearing, stop_reconnecting 1, will_retry_reconnecting 0; a fresh producer sends"},
		{Client: "v0.18.0", Evidence: "not recovered in 30 s after the clearing, stop_reconnecting 1, will_retry_reconnecting 0; a fresh producer sends"},
	},
	KnownGood: []testenv.Combination{{Client: "v0.11.1"}, {Client: "v0.19.0"}, {Client: "v0.20.0"}, {Client: "v0.21.0"}},
}

func TestSameProducerSendsAgainAfterBacklogIsCleared(t *testing.T) {
	env := testenv.New(t, selfHeal)
	s := newScene(t, env, "producer_exception", nil)
	producer := s.newProducer(t, producerOptions(s.topic))
	env.Counts("client", countsOfIncident)

	env.Within("the producer sends before the fault", 10*time.Second, testenv.InARow(2, sends(producer)))
	quota := env.Inject(s.fillBacklog(answers(env, producer)))
	env.Holds("no send succeeds while the quota is exceeded", env.ByProfile(5*time.Second, 60*time.Second), fails(answers(env, producer)))
	quota.Heal()
	env.Recovers("the same producer sends again", env.ByProfile(30*time.Second, 90*time.Second), sends(producer))
	s.goesOnSending(producer)
}

// answers is the probe "a send succeeds" which does not wait for a send that has no answer,
// while the broker refuses it, in the time that a client which is right needs. v0.11.1, which
// heals, hangs in Send meanwhile, and that each send has its answer is the claim of
// pulsarquota/pending-sends.
func answers(env *testenv.Env, p pulsar.Producer) testenv.Probe {
	return func(ctx context.Context) error {
		answer := make(chan error, 1)
		go func() { answer <- send(env.Context(), p) }()
		patience := time.NewTimer(sendTimeout + time.Second)
		defer patience.Stop()
		select {
		case err := <-answer:
			return err
		case <-patience.C:
			return errors.New("the send has no answer")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
