package testenv

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

func TestTopicIsMadeWhileTheControllerChanges(t *testing.T) {
	for name, test := range map[string]struct {
		answers []error // of two brokers in turn, the last for ever
		fails   error
		asked   int
	}{
		"at once":                       {[]error{nil}, nil, 1},
		"by the other one":              {[]error{kerr.NotController, nil}, nil, 2},
		"after an election":             {[]error{kerr.NotController, kerr.NotController, kerr.NotController, nil}, nil, 4},
		"without an answer":             {[]error{io.ErrUnexpectedEOF, kerr.TopicAlreadyExists}, nil, 2},
		"it was there before":           {[]error{kerr.TopicAlreadyExists}, kerr.TopicAlreadyExists, 2},
		"its name is refused":           {[]error{kerr.NotController, kerr.InvalidTopicException, nil}, kerr.InvalidTopicException, 2},
		"it was there, says the second": {[]error{kerr.NotController, kerr.TopicAlreadyExists, nil}, kerr.TopicAlreadyExists, 2},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			probe := doneByOneOf(2, kerr.TopicAlreadyExists, func(context.Context, int) error {
				asked++
				return test.answers[min(asked, len(test.answers))-1]
			})
			_, err := poll.Until(t.Context(), poll.Options{Budget: 5 * time.Second}, probe)
			require.ErrorIs(t, err, test.fails)
			require.Equal(t, test.asked, asked)
		})
	}
}

// A record that is not tried again fails while the leader has not taken its partition
// over, which a topic's metadata does not tell.
func TestTopicTakesRecordsAsSoonAsItIsMade(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a broker")
	}
	t.Parallel()
	requireRuntime(t)
	e := New(t, Case{Name: "testenv/topic", Claim: "a topic takes records as soon as it is made"})
	k := e.StartKafka(KafkaSpec{Version: "3.9.2"})
	takeRecords := func(ctx context.Context) error {
		c, err := kgo.NewClient(kgo.SeedBrokers(k.Addresses()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
			kgo.RecordRetries(0), kgo.DisableIdempotentWrite())
		if err != nil {
			return err
		}
		defer c.Close()
		for range 25 {
			topic := e.Unique("orders")
			if err := k.CreateTopic(ctx, topic, 3); err != nil {
				return err
			}
			for partition := range int32(3) {
				if err := c.ProduceSync(ctx, &kgo.Record{Topic: topic, Partition: partition}).FirstErr(); err != nil {
					return fmt.Errorf("partition %d of %s: %w", partition, topic, err)
				}
			}
		}
		return nil
	}
	e.Within("new topics take records", time.Minute, AtOnce(takeRecords))
	e.Inject(k.Restart())
	e.Recovers("new topics take records", time.Minute, AtOnce(takeRecords))
}
