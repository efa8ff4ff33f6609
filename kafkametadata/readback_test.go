package kafkametadata

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

// readAll reads a topic's only partition from its start to its end with a fresh client.
func readAll(ctx context.Context, env *testenv.Env, kafka *testenv.Kafka, topic string) ([]string, error) {
	c, err := newClient(env, kafka, "reader",
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}),
		kgo.FetchMaxWait(time.Second))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var read []string
	for {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, fmt.Errorf("read %q after %d records: %w", topic, len(read), err)
		}
		atEnd := false
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			for _, r := range p.Records {
				read = append(read, string(r.Value))
				atEnd = r.Offset+1 >= p.HighWatermark
			}
		})
		if atEnd {
			return read, nil
		}
	}
}

// readBack stops the streams and compares what they sent with what is there. Brokers
// before 0.11 do not know a record that was sent again, so there it may be there twice.
func readBack(env *testenv.Env, kafka *testenv.Kafka, streams ...*stream) {
	once := !kafka.Before(0, 11)
	for _, s := range streams {
		env.Within("the last record to "+called(s.topic)+" has its outcome", 30*time.Second, testenv.AtOnce(s.stop))
		env.Within("what was acknowledged of "+called(s.topic)+" is there once and in order", 30*time.Second, testenv.AtOnce(func(ctx context.Context) error {
			read, err := readAll(ctx, env, kafka, s.topic)
			if err != nil {
				return err
			}
			return s.account(read, once)
		}))
		failed, _ := s.failures()
		env.Note("%s: %d acknowledged, %d failed", called(s.topic), s.sent(), failed)
	}
}
