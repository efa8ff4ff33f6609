package pulsarquota

import (
	"context"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

var onePartition = testenv.Case{
	Name:   "pulsarquota/one-full-partition",
	Claim:  "while one partition of a topic is full, sends to the others go on, and it comes back after the clearing",
	Issue:  "https://github.com/apache/pulsar-client-go/pull/1457",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Client: "v0.18.0", Evidence: "not recovered in 30 s after the clearing, stop_reconnecting 1, will_retry_reconnecting 0; a fresh producer sends"},
	},
}

const partition = "partition"

// sendsTo is the probe "a send to this partition succeeds".
func sendsTo(p pulsar.Producer, number string, size int) testenv.Probe {
	return func(ctx context.Context) error {
		_, err := p.Send(ctx, &pulsar.ProducerMessage{
			Payload: make([]byte, size), Properties: map[string]string{partition: number},
		})
		return err
	}
}

func TestOtherPartitionsGoOnWhileOneIsFull(t *testing.T) {
	env := testenv.New(t, onePartition)
	s := newScene(t, env, "producer_exception", nil)
	whole := "persistent://" + s.namespace + "/parted"
	require.NoError(t, s.broker.CreatePartitionedTopic(env.Context(), whole, 3))
	require.NoError(t, s.broker.CreateSubscription(env.Context(), whole, subscription))
	s.topic = whole + "-partition-0"

	options := promptly(producerOptions(whole))
	options.MessageRouter = func(m *pulsar.ProducerMessage, _ pulsar.TopicMetadata) int {
		return int(m.Properties[partition][0] - '0')
	}
	producer := s.newProducer(t, options)
	env.Counts("client", countsOfIncident)
	for _, number := range []string{"0", "1", "2"} {
		env.Within("the producer sends to partition "+number+" before the fault", 10*time.Second, sendsTo(producer, number, messageSize))
	}

	quota := env.Inject(s.fillBacklog(sendsTo(producer, "0", messageSize)))
	// Small messages, so that the other partitions stay below the quota.
	env.Holds("sends to the other partitions go on", env.ByProfile(3*time.Second, 30*time.Second), func(ctx context.Context) error {
		if err := sendsTo(producer, "1", 1)(ctx); err != nil {
			return err
		}
		return sendsTo(producer, "2", 1)(ctx)
	})
	quota.Heal()
	env.Recovers("the full partition takes sends again", 30*time.Second, sendsTo(producer, "0", messageSize))
}
