package pulsarquota

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

var newProducer = testenv.Case{
	Name:   "pulsarquota/new-producer",
	Claim:  "a new producer on a full topic is refused promptly, for the quota, and is made after the clearing",
	Client: underTest,
	Shares: true,
}

func TestNewProducerIsRefusedPromptlyAndMadeAfterClearing(t *testing.T) {
	env := testenv.New(t, newProducer)
	s, client, quota := fullTopic(t, env)
	env.Within("a new producer is refused promptly, for the quota", 5*time.Second, refusesProducer(client, s.topic, func(err error) bool {
		return strings.Contains(err.Error(), "ProducerBlockedQuotaExceeded")
	}))
	quota.Heal()
	env.Recovers("the same client makes a producer that sends", 30*time.Second, makesProducer(client, s.topic))
}

var newProducerTyped = testenv.Case{
	Name:   "pulsarquota/new-producer-typed",
	Claim:  "the error of a new producer on a full topic is ErrProducerBlockedQuotaExceeded, as that of its sends is",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{{
		Client:   "v0.18.0",
		Evidence: "a plain error whose text names ProducerBlockedQuotaExceededException",
	}, {
		Client:   "v0.21.0",
		Evidence: "the error is a plain one whose text names ProducerBlockedQuotaExceededException; errors.Is does not find it",
		Fails:    "the refusal is the quota error by its type",
		Open:     "no public report was found; told in this package's documentation",
	}},
}

func TestNewProducerIsRefusedWithTypedError(t *testing.T) {
	env := testenv.New(t, newProducerTyped)
	s, client, quota := fullTopic(t, env)
	var refusal error
	env.Within("a new producer is refused promptly", 5*time.Second, refusesProducer(client, s.topic, func(err error) bool {
		refusal = err
		return true
	}))
	quota.Heal()
	env.Recovers("the same client makes a producer that sends", 30*time.Second, makesProducer(client, s.topic))
	// Judged last, when a fresh client can be asked: it tells the client from the broker.
	env.Within("the refusal is the quota error by its type", 5*time.Second, testenv.AtOnce(func(context.Context) error {
		if !isQuotaError(refusal) {
			return fmt.Errorf("it is not: %w", refusal)
		}
		return nil
	}))
}

// fullTopic is a topic over its quota and a client that has no producer on it yet.
func fullTopic(t *testing.T, env *testenv.Env) (*scene, pulsar.Client, *testenv.Injected) {
	t.Helper()
	s := newScene(t, env, "producer_exception", nil)
	first := s.newProducer(t, promptly(producerOptions(s.topic)))
	client, err := newClient(env, s.broker, "second")
	require.NoError(t, err)
	env.Closes("the second client", client.Close)
	env.Within("the first producer sends before the fault", 10*time.Second, sends(first))
	return s, client, env.Inject(s.fillBacklog(sends(first)))
}

func refusesProducer(client pulsar.Client, topic string, right func(error) bool) testenv.Probe {
	return testenv.AtOnce(func(context.Context) error {
		p, err := client.CreateProducer(producerOptions(topic))
		if err == nil {
			p.Close()
			return errors.New("a producer was made on a full topic")
		}
		if !right(err) {
			return fmt.Errorf("not the quota error, but %T: %w", err, err)
		}
		return nil
	})
}

func makesProducer(client pulsar.Client, topic string) testenv.Probe {
	return func(ctx context.Context) error {
		p, err := client.CreateProducer(producerOptions(topic))
		if err != nil {
			return err
		}
		defer p.Close()
		return send(ctx, p)
	}
}
