package pulsarquota

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

var eviction = testenv.Case{
	Name:   "pulsarquota/backlog-eviction",
	Claim:  "with consumer_backlog_eviction the producer is never refused and the oldest of the backlog goes",
	Client: underTest,
	Shares: true,
}

func TestEvictionTakesTheOldestAndNeverRefuses(t *testing.T) { evicts(t, eviction, nil) }

var preciseEviction = testenv.Case{
	Name:   "pulsarquota/backlog-eviction-precise-age",
	Claim:  "eviction holds up no send where the broker also reads the age of the oldest message",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{{
		Broker: "4.2.4",
		Evidence: "no producer, fresh ones included, gets a send through for at least 18 s: the broker's only BookKeeper worker of the topic " +
			"waits in ManagedCursorImpl.skipEntries, called by BacklogQuotaManager from a read's completion, for work of its own",
		Fails: "sends go on while the broker evicts",
		Open:  "no public report was found; seen in the thread dump of the broker",
	}},
	KnownGood: []testenv.Combination{{Broker: "3.0.2"}},
}

func TestEvictionHoldsUpNoSendWithPreciseAge(t *testing.T) { evicts(t, preciseEviction, preciseAge) }

func evicts(t *testing.T, c testenv.Case, settings map[string]string) {
	t.Helper()
	env := testenv.New(t, c)
	s := newScene(t, env, "consumer_backlog_eviction", settings)
	client, err := newClient(env, s.broker, "client")
	require.NoError(t, err)
	env.Closes("the client", client.Close)
	producer, err := client.CreateProducer(promptly(producerOptions(s.topic)))
	require.NoError(t, err)
	all := newOutcomes()

	env.Within("the producer sends before the fault", 10*time.Second, all.sendsAgain(producer))
	env.Inject(testenv.Fault{
		Name: "the backlog quota is exceeded",
		Apply: func(ctx context.Context) error {
			for range 4 * quotaSize / messageSize {
				all.sendAsync(env.Context(), producer)
			}
			return nil
		},
		Bites: s.evicted(all),
	})
	env.Holds("sends go on while the broker evicts", 3*time.Second, all.sendsAgain(producer))
	env.Recovers("the broker has evicted the backlog down to its quota", 15*time.Second, func(ctx context.Context) error {
		stats, err := s.broker.TopicStats(ctx, s.topic)
		if err != nil {
			return err
		}
		if left := stats.Subscriptions[subscription].MsgBacklog; left > quotaSize/messageSize {
			return fmt.Errorf("%d messages are left in the backlog", left)
		}
		return nil
	})
	require.Zero(t, all.failed(), "sends that were refused")
	// One more, so that something is left to be received.
	env.Within("the producer sends after the eviction", 5*time.Second, all.sendsAgain(producer))
	env.Within("the subscription goes on with the newest, in order", 15*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		return newestOnly(ctx, client, s.topic, all.sent()-1)
	}))
}

// evicted is the proof that the broker has taken something from the backlog.
func (s *scene) evicted(all *outcomes) testenv.Probe {
	return func(ctx context.Context) error {
		if err := all.settled(ctx); err != nil {
			return err
		}
		stats, err := s.broker.TopicStats(ctx, s.topic)
		if err != nil {
			return err
		}
		if left, sent := stats.Subscriptions[subscription].MsgBacklog, int64(all.sent()); left >= sent {
			return fmt.Errorf("all %d messages are in the backlog", sent)
		}
		return nil
	}
}

// newestOnly receives until the last number and refuses a gap, a step back, and the first number of all.
func newestOnly(ctx context.Context, client pulsar.Client, topic string, last uint64) error {
	consumer, err := client.Subscribe(pulsar.ConsumerOptions{Topic: topic, SubscriptionName: subscription})
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	defer consumer.Close()
	previous := uint64(0)
	for previous < last {
		m, err := consumer.Receive(ctx)
		if err != nil {
			return fmt.Errorf("receive after %d: %w", previous, err)
		}
		n := binary.BigEndian.Uint64(m.Payload())
		if n == 0 {
			return errors.New("the oldest message was not evicted")
		}
		if previous != 0 && n != previous+1 {
			return fmt.Errorf("message %d comes after %d", n, previous)
		}
		previous = n
	}
	return nil
}
