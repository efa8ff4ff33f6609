package testenv

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

// awaitLeaders waits until the leader of each partition takes requests for it. With
// KRaft metadata names a leader before that broker has taken the partition over; till
// then it answers NOT_LEADER_FOR_PARTITION, and a client's second try waits for new
// metadata, for 5 s in franz-go.
func (k *Kafka) awaitLeaders(ctx context.Context, topic string) error {
	_, err := poll.Until(ctx, poll.Options{Budget: k.env.scaled(topicLimit)}, func(ctx context.Context) error {
		known, err := kafkaMetadata(ctx, k.link(1))
		if err != nil {
			return err
		}
		for _, t := range known.Topics {
			if *t.Topic != topic {
				continue
			}
			for _, p := range t.Partitions {
				if err := k.leads(ctx, p.Leader, topic, p.Partition); err != nil {
					return fmt.Errorf("ask kafka-%d for the end of partition %d: %w", p.Leader, p.Partition, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("wait for the leaders of topic %q: %w", topic, err)
	}
	return nil
}

// leads asks a broker for the end of a partition, which only its leader tells.
func (k *Kafka) leads(ctx context.Context, leader int32, topic string, partition int32) error {
	if leader < 1 || int(leader) > k.brokers {
		return kerr.LeaderNotAvailable
	}
	r := kmsg.NewPtrListOffsetsRequest()
	if !k.Before(0, 10, 1) {
		r.SetVersion(1) // 4.0 takes no older one, and the others know none
	}
	r.ReplicaID = -1
	of := kmsg.NewListOffsetsRequestTopic()
	of.Topic = topic
	end := kmsg.NewListOffsetsRequestTopicPartition()
	end.Partition, end.Timestamp, end.MaxNumOffsets = partition, -1, 1
	of.Partitions = append(of.Partitions, end)
	r.Topics = append(r.Topics, of)
	answer, err := kafkaRoundTrip(ctx, k.link(int(leader)), r)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(answer.(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0].ErrorCode)
}
