package pulsarquota

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

var maxReconnect = testenv.Case{
	Name:   "pulsarquota/max-reconnect",
	Claim:  "a producer whose MaxReconnectToBroker ran out during the block sends again after the clearing, or says at once that it is dead",
	Issue:  "https://github.com/apache/pulsar-client-go/issues/458",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{{
		Client:   "v0.18.0",
		Evidence: "stops reconnecting at the first refusal, so that the tries never run out",
	}, {
		Client:   "v0.21.0",
		Evidence: "after its three reconnects every send ends in a timeout, also 20 s after the clearing; a fresh producer sends",
		Fails:    "the same producer sends, or says at once that it is dead",
		Open:     "https://github.com/apache/pulsar-client-go/issues/458",
	}},
}

func TestProducerThatGaveUpReconnectingSaysSo(t *testing.T) {
	env := testenv.New(t, maxReconnect)
	s := newScene(t, env, "producer_exception", nil)
	options := promptly(producerOptions(s.topic))
	const tries = 3
	most := uint(tries)
	options.MaxReconnectToBroker = &most
	producer := s.newProducer(t, options)
	env.Counts("client", countsOfIncident)

	env.Within("the producer sends before the fault", 10*time.Second, sends(producer))
	quota := env.Inject(s.fillBacklog(sends(producer)))
	env.Within("the reconnects have run out", 15*time.Second, func(context.Context) error {
		if n := env.Log("client").Count("will retry reconnecting"); n < tries {
			return fmt.Errorf("the broker has refused the producer %d times", n)
		}
		return nil
	})
	env.Holds("sends fail while the quota is exceeded", 2*time.Second, refused(producer))
	quota.Heal()
	env.Recovers("the same producer sends, or says at once that it is dead", env.ByProfile(10*time.Second, 20*time.Second), func(ctx context.Context) error {
		began := time.Now()
		err := send(ctx, producer)
		if err == nil {
			env.Note("the producer sends again")
			return nil
		}
		took := time.Since(began)
		// The quota error would be one of the block's, come late.
		if took > time.Second || ctx.Err() != nil || isQuotaError(err) {
			return fmt.Errorf("after %v: %w", took.Round(time.Millisecond), err)
		}
		env.Note("the producer says: %v", err)
		return nil
	})
}
