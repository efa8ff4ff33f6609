package pulsarquota

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

const (
	// quotaSize is the 50K of the original incident, in bytes.
	quotaSize    = 50 << 10
	subscription = "nobody-reads"
)

// scene is a broker with a topic that has a subscription nobody reads, in a namespace
// with a quota.
type scene struct {
	env       *testenv.Env
	broker    *testenv.Pulsar
	namespace string
	topic     string
}

// config makes the broker look at quotas every second (every 5 s in the
// profile "full", as in the original experiment) and keep small ledgers: it
// counts an open ledger as backlog whether it was read or not, so an open one
// must stay below the quota.
func config(env *testenv.Env) map[string]string {
	interval := env.ByProfile(time.Second, 5*time.Second)
	return map[string]string{
		"backlogQuotaCheckEnabled":                  "true",
		"backlogQuotaCheckIntervalInSeconds":        fmt.Sprint(int(interval.Seconds())),
		"managedLedgerMaxEntriesPerLedger":          "5",
		"managedLedgerMinLedgerRolloverTimeMinutes": "0",
	}
}

// preciseAge makes the broker read the age of the oldest message from it,
// instead of taking its ledger's.
var preciseAge = map[string]string{"preciseTimeBasedBacklogQuotaCheck": "true"}

// newScene starts a broker and makes the topic, with a size quota of this policy.
// The settings more go on top of config.
func newScene(t *testing.T, env *testenv.Env, policy string, more map[string]string) *scene {
	t.Helper()
	settings := config(env)
	maps.Copy(settings, more)
	s := &scene{env: env, broker: env.StartPulsar(testenv.PulsarSpec{Config: settings})}
	ctx, cancel := context.WithTimeout(env.Context(), 30*time.Second)
	defer cancel()
	var err error
	s.namespace, err = s.broker.CreateNamespace(ctx, env.Unique("quota"))
	require.NoError(t, err)
	s.topic = "persistent://" + s.namespace + "/orders"
	require.NoError(t, s.broker.CreateSubscription(ctx, s.topic, subscription))
	if policy != "" {
		require.NoError(t, s.broker.SetBacklogQuota(ctx, s.namespace, testenv.PulsarQuota{LimitSize: quotaSize, Policy: policy}))
	}
	env.Witness("a fresh producer sends", s.freshProducerSends)
	return s
}

// newProducer makes the client under test, which logs as "client", and its producer.
func (s *scene) newProducer(t *testing.T, options pulsar.ProducerOptions) pulsar.Producer {
	t.Helper()
	client, err := newClient(s.env, s.broker, "client")
	require.NoError(t, err)
	s.env.Closes("the client", client.Close)
	producer, err := client.CreateProducer(options)
	require.NoError(t, err)
	return producer
}

func (s *scene) freshProducerSends(ctx context.Context) error {
	client, err := newClient(s.env, s.broker, "witness")
	if err != nil {
		return err
	}
	defer client.Close()
	producer, err := client.CreateProducer(producerOptions(s.topic))
	if err != nil {
		return fmt.Errorf("create a fresh producer: %w", err)
	}
	defer producer.Close()
	return send(ctx, producer)
}

// fillBacklog floods the topic with sends until one fails: the broker has
// thrown the producer out. It heals by clearing the backlog.
func (s *scene) fillBacklog(flood testenv.Probe) testenv.Fault {
	return s.exceed(func(ctx context.Context) error {
		for ctx.Err() == nil {
			if err := flood(ctx); err != nil {
				s.env.Note("the flood ended: %v", err)
				return nil
			}
		}
		return ctx.Err()
	})
}

// exceed is the fault of a backlog over its quota, brought about by apply.
func (s *scene) exceed(apply func(ctx context.Context) error) testenv.Fault {
	return testenv.Fault{
		Name:  "the backlog quota is exceeded",
		Apply: apply,
		Bites: s.refusedByBroker(quotaSize, s.refusals()),
		Heal:  s.clear,
	}
}

// refusals is how often the client's log has the broker's refusal so far.
func (s *scene) refusals() int { return s.env.Log("client").Count("QuotaExceeded") }

// refusedByBroker is the proof: on the broker, a backlog above the quota and
// no producer; in the client's log, more refusals than so many earlier ones.
func (s *scene) refusedByBroker(above int64, earlier int) testenv.Probe {
	return func(ctx context.Context) error {
		stats, err := s.broker.TopicStats(ctx, s.topic)
		if err != nil {
			return err
		}
		if stats.BacklogSize <= above {
			return fmt.Errorf("the backlog holds %d bytes, not more than %d", stats.BacklogSize, above)
		}
		if len(stats.Publishers) > 0 {
			return fmt.Errorf("%d producers are connected", len(stats.Publishers))
		}
		if s.refusals() <= earlier {
			return fmt.Errorf("the client's log has no QuotaExceeded after the first %d", earlier)
		}
		return nil
	}
}

func (s *scene) clear(ctx context.Context) error {
	return s.broker.ClearBacklog(ctx, s.topic, subscription)
}

// goesOnSending proves a steady state: three sends, each at its first try. Not
// more, or the quota would be exceeded anew.
func (s *scene) goesOnSending(p pulsar.Producer) {
	s.env.Within("it goes on sending", 5*time.Second, testenv.AtOnce(testenv.InARow(3, sends(p))))
}
