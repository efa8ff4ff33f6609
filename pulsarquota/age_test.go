package pulsarquota

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

var messageAge = testenv.Case{
	Name:   "pulsarquota/message-age",
	Claim:  "a producer that was stopped by a quota on the age of messages sends again after the clearing",
	Issue:  "https://github.com/apache/pulsar-client-go/pull/1457",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Client: "v0.18.0", Evidence: "not recovered in 30 s after the clearing, stop_reconnecting 1, will_retry_reconnecting 0; a fresh producer sends"},
	},
}

func TestSameProducerSendsAgainAfterAgedBacklogIsCleared(t *testing.T) {
	env := testenv.New(t, messageAge)
	s := newScene(t, env, "", preciseAge)
	const oldest = 2 // seconds
	require.NoError(t, s.broker.SetBacklogQuota(env.Context(), s.namespace,
		testenv.PulsarQuota{Type: "message_age", LimitTime: oldest, Policy: "producer_exception"}))
	producer := s.newProducer(t, promptly(producerOptions(s.topic)))
	env.Counts("client", countsOfIncident)

	env.Within("the producer sends before the fault", 10*time.Second, sends(producer))
	quota := env.Inject(testenv.Fault{
		Name:  "the oldest message is older than the quota allows",
		Apply: sends(producer),
		Bites: s.refusedByBroker(0, s.refusals()),
		Heal:  s.clear,
	})
	env.Holds("sends fail while the backlog is too old", env.ByProfile(3*time.Second, 60*time.Second), refused(producer))
	quota.Heal()
	env.Recovers("the same producer sends again", 30*time.Second, sends(producer))
}
