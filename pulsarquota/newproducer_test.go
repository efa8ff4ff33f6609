package pulsarquota

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

var newProducer = testenv.Case{
	Name:   "pulsarquota/new-producer",
	Claim:  "a new producer on a full topic is refused promptly with the quota error, and is made after the clearing",
	Client: underTest,
}

func TestNewProducerIsRefusedPromptlyAndMadeAfterClearing(t *testing.T) {
	env := testenv.New(t, newProducer)
	s := newScene(t, env, "producer_exception")
	first := s.newProducer(t, "client", promptly(producerOptions(s.topic)))
	client, err := newClient(env, s.broker, "second")
	require.NoError(t, err)
	env.Closes("the second client", client.Close)

	env.Within("the first producer sends before the fault", 10*time.Second, sends(first))
	quota := env.Inject(s.fillBacklog(sends(first), "client"))
	env.Within("a new producer is refused promptly, with the quota error", 5*time.Second, atOnce(func(context.Context) error {
		_, err := client.CreateProducer(producerOptions(s.topic))
		if err == nil {
			return errors.New("a producer was made on a full topic")
		}
		if !quotaError(err) {
			return fmt.Errorf("not the quota error, but %w", err)
		}
		return nil
	}))
	quota.Heal()
	env.Recovers("the same client makes a producer that sends", 30*time.Second, func(ctx context.Context) error {
		p, err := client.CreateProducer(producerOptions(s.topic))
		if err != nil {
			return err
		}
		defer p.Close()
		return send(ctx, p)
	})
}

// quotaError tells the quota error by its type.
func quotaError(err error) bool { return errors.Is(err, pulsar.ErrProducerBlockedQuotaExceeded) }
