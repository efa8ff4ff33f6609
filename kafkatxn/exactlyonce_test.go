package kafkatxn

import (
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

// atLeast is how many records have to go through the pipeline, faults or not.
const atLeast = 10_000

func TestConsumeTransformProduceIsExactlyOnceUnderKillsAndPauses(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:      "kafkatxn/exactly-once",
		Claim:     "consume, transform, produce in transactions goes on under kills and pauses of brokers, each record exactly once",
		Client:    underTest,
		KnownGood: []testenv.Combination{{Client: "v1.22.3", Broker: "3.9.2"}},
	})
	s := newScene(t, env, three(env))
	p := s.pipeline()
	env.Within("records flow before the fault", 60*time.Second, p.reaches(1000))
	for round, fault := range []func(b *testenv.Broker) testenv.Fault{
		(*testenv.Broker).Kill, (*testenv.Broker).Pause, (*testenv.Broker).Kill, (*testenv.Broker).Pause,
	} {
		hit := env.Inject(fault(s.kafka.Node(1 + round%3)))
		env.Within("records flow through the two brokers left", 60*time.Second, p.reaches(p.distinct()+ahead/2))
		hit.Heal()
		env.Recovers("records flow again", 60*time.Second, p.reaches(p.distinct()+ahead))
		// Else the next fault takes the last replica that a partition has.
		env.Within("every replica is in sync again", 60*time.Second, s.kafka.InSync)
	}
	env.Within("ten thousand have come out", 2*time.Minute, p.reaches(atLeast))
	p.feeding.Store(false)
	env.Within("each record that was fed has come out, once", 60*time.Second, p.exactlyOnce)
	env.Evidence("records", p.distinct())
	env.Evidence("sessions", int(p.sessions.Load()))
	env.Evidence("aborted_transactions", int(p.aborted.Load()))
}
