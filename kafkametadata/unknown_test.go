package kafkametadata

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv"
)

var unknownTopic = testenv.Case{
	Name:      "kafkametadata/unknown-topic-a-hundred-times",
	Claim:     "with strict retries the error of an unknown topic never hits the real one, and after the topic's creation the same client sends to it",
	Issue:     "https://github.com/twmb/franz-go/issues/675",
	Client:    underTest,
	Shares:    true,
	KnownGood: []testenv.Combination{{Client: "v1.20.0"}, {Client: "v1.22.3"}},
}

// strictRetries are the settings of the report.
func strictRetries() []kgo.Opt {
	return []kgo.Opt{
		kgo.RecordRetries(0), kgo.UnknownTopicRetries(0), kgo.DisableIdempotentWrite(),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.MaxBufferedBytes(1_000_000),
	}
}

func TestUnknownTopicNeverFailsTheRealOne(t *testing.T) {
	const rounds = 100
	env := testenv.New(t, unknownTopic)
	// Topics are not created by themselves unless a spec says so.
	kafka := env.StartKafka(testenv.KafkaSpec{})
	known, later := env.Unique("real"), env.Unique("later")
	require.NoError(t, kafka.CreateTopic(env.Context(), known, 1))
	env.Witness("a fresh client sends", freshSends(env, kafka, known))
	// A record to a topic that has failed before waits for the next metadata: by default
	// 5 s, which makes this take ten minutes.
	c := underTestIn(t, env, kafka, append(strictRetries(), kgo.MetadataMinAge(env.ByProfile(50*time.Millisecond, 5*time.Second)))...)
	env.Within("the client sends before the fault", 10*time.Second, c.sends(known))

	fails := func(ctx context.Context, topic string) error {
		err := c.send(ctx, topic, "lost")
		if err == nil {
			return fmt.Errorf("a record to the unknown topic %q was taken", topic)
		}
		if !errors.Is(err, kerr.UnknownTopicOrPartition) {
			return fmt.Errorf("a record to %q failed, but not for the topic: %w", topic, err)
		}
		return nil
	}
	before := kafka.Requests(kmsg.Metadata.Int16())
	env.Inject(testenv.Fault{
		Name:  "a record is sent to an unknown topic",
		Apply: func(ctx context.Context) error { return fails(ctx, later) },
		Bites: func(context.Context) error {
			if kafka.Requests(kmsg.Metadata.Int16()) == before {
				return errors.New("nobody was asked for metadata")
			}
			return nil
		},
	})
	env.Within("real, unknown, real, a hundred times: only the unknown fail", env.ByProfile(time.Minute, 15*time.Minute), testenv.AtOnce(func(ctx context.Context) error {
		for n := range rounds {
			if err := c.send(ctx, known, fmt.Sprint(2*n+1)); err != nil {
				return fmt.Errorf("round %d, before the unknown: %w", n, err)
			}
			// A name that was asked for before, and a new one.
			unknown := later
			if n%2 == 1 {
				unknown = env.Unique("unknown")
			}
			if err := fails(ctx, unknown); err != nil {
				return fmt.Errorf("round %d: %w", n, err)
			}
			if err := c.send(ctx, known, fmt.Sprint(2*n+2)); err != nil {
				return fmt.Errorf("round %d, after the unknown: %w", n, err)
			}
		}
		return nil
	}))
	env.Within("what was acknowledged is there once and in order", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		read, err := readAll(ctx, env, kafka, known)
		if err != nil {
			return err
		}
		all := &stream{topic: known}
		for n := range 2 * rounds {
			all.acked = append(all.acked, n+1)
		}
		return all.account(read, true)
	}))
	require.NoError(t, kafka.CreateTopic(env.Context(), later, 1))
	env.Within("after the creation the same client sends", 10*time.Second, c.sends(later))
}
