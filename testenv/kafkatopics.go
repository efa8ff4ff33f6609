package testenv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

// topicLimit bounds how long the harness waits for a topic to come or to go.
const topicLimit = 30 * time.Second

// CreateTopic makes a topic, with as many replicas as the cluster's internal topics
// have, and returns once every broker names a leader of each partition and the leaders
// take requests for them.
func (k *Kafka) CreateTopic(ctx context.Context, topic string, partitions int) error {
	if err := k.createTopic(ctx, topic, partitions); err != nil {
		return fmt.Errorf("create topic %q: %w", topic, err)
	}
	err := k.awaitTopic(ctx, topic, func(seen int) error {
		if seen != partitions {
			return fmt.Errorf("it has %d partitions with a leader, not %d", seen, partitions)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return k.awaitLeaders(ctx, topic)
}

// DeleteTopic deletes a topic and returns once no broker knows it. Brokers before
// 0.10.1 have no such request.
func (k *Kafka) DeleteTopic(ctx context.Context, topic string) error {
	r := kmsg.NewPtrDeleteTopicsRequest()
	r.SetVersion(k.spoken(1))
	r.TopicNames = []string{topic}
	r.TimeoutMillis = int32(wireLimit.Milliseconds())
	err := k.askController(ctx, r, kerr.UnknownTopicOrPartition, func(answer kmsg.Response) int16 {
		return answer.(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode
	})
	if err != nil {
		return fmt.Errorf("delete topic %q: %w", topic, err)
	}
	return k.awaitTopic(ctx, topic, func(seen int) error {
		if seen > 0 {
			return fmt.Errorf("it still has %d partitions", seen)
		}
		return nil
	})
}

func (k *Kafka) createTopic(ctx context.Context, topic string, partitions int) error {
	replicas := min(3, k.brokers)
	if dist.Before(k.version, 0, 10, 1) {
		return k.registerTopic(ctx, topic, partitions, replicas)
	}
	r := kmsg.NewPtrCreateTopicsRequest()
	r.SetVersion(k.spoken(2))
	r.TimeoutMillis = int32(wireLimit.Milliseconds())
	one := kmsg.NewCreateTopicsRequestTopic()
	one.Topic, one.NumPartitions, one.ReplicationFactor = topic, int32(partitions), int16(replicas)
	r.Topics = append(r.Topics, one)
	return k.askController(ctx, r, kerr.TopicAlreadyExists, func(answer kmsg.Response) int16 {
		return answer.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode
	})
}

// spoken is the version of a request about topics: the oldest that 4.0 still takes, or
// the first one, for brokers before 0.11, which do not know that yet.
func (k *Kafka) spoken(oldestOfToday int16) int16 {
	if k.Before(0, 11) {
		return 0
	}
	return oldestOfToday
}

// askController asks the brokers in turn, for without KRaft only the controller answers.
func (k *Kafka) askController(ctx context.Context, r kmsg.Request, done *kerr.Error, code func(kmsg.Response) int16) error {
	_, err := poll.Until(ctx, poll.Options{Budget: k.env.scaled(topicLimit)}, doneByOneOf(k.brokers, done, func(ctx context.Context, id int) error {
		answer, err := kafkaRoundTrip(ctx, k.link(id), r)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(code(answer))
	}))
	return err
}

// doneByOneOf is the probe "one of the brokers has done it". It gives up as soon as one
// says that it cannot be done. While the controller changes, an attempt may succeed
// whose answer never comes: done is the error that says so of a later one.
func doneByOneOf(brokers int, done *kerr.Error, ask func(ctx context.Context, id int) error) poll.Probe {
	unanswered := false
	return func(ctx context.Context) error {
		var errs error
		final := false
		for id := 1; id <= brokers; id++ {
			err := ask(ctx, id)
			if err == nil || unanswered && errors.Is(err, done) {
				return nil
			}
			if told := new(kerr.Error); !errors.As(err, &told) {
				unanswered = true
			} else if told == done || !told.Retriable {
				final = true
			}
			errs = errors.Join(errs, fmt.Errorf("ask kafka-%d: %w", id, err))
		}
		if final {
			return poll.Stop(errs)
		}
		return errs
	}
}

// awaitTopic waits until each broker's number of partitions with a leader is as wanted.
func (k *Kafka) awaitTopic(ctx context.Context, topic string, wanted func(partitions int) error) error {
	_, err := poll.Until(ctx, poll.Options{Budget: k.env.scaled(topicLimit)}, func(ctx context.Context) error {
		for id := 1; id <= k.brokers; id++ {
			known, err := kafkaMetadata(ctx, k.link(id))
			if err != nil {
				return err
			}
			seen := 0
			for _, t := range known.Topics {
				for _, p := range t.Partitions {
					if *t.Topic == topic && p.Leader >= 0 {
						seen++
					}
				}
			}
			if err := wanted(seen); err != nil {
				return fmt.Errorf("ask kafka-%d: %w", id, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("wait for topic %q: %w", topic, err)
	}
	return nil
}
