package kafkametadata

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

// admin asks the brokers for what a scenario wants to know of them.
type admin struct{ *kadm.Client }

func newAdmin(t *testing.T, env *testenv.Env, kafka *testenv.Kafka) admin {
	t.Helper()
	// It keeps what it was told of topics for that long.
	c, err := newClient(env, kafka, "admin", kgo.MetadataMinAge(10*time.Millisecond))
	require.NoError(t, err)
	env.Closes("the admin client", c.Close)
	return admin{kadm.NewClient(c.Client)}
}

// topic describes one that is there.
func (a admin) topic(ctx context.Context, name string) (kadm.TopicDetail, error) {
	all, err := a.ListTopics(ctx, name)
	if err != nil {
		return kadm.TopicDetail{}, err
	}
	d := all[name]
	return d, d.Err
}

// recreated is the one-shot fault of a topic that is deleted and made anew, which gives it
// another ID.
func (a admin) recreated(kafka *testenv.Kafka, topic string) testenv.Fault {
	var old kadm.TopicID
	return testenv.Fault{
		Name: topic + " is deleted and made anew",
		Apply: func(ctx context.Context) error {
			d, err := a.topic(ctx, topic)
			if err != nil {
				return err
			}
			old = d.ID
			if err := kafka.DeleteTopic(ctx, topic); err != nil {
				return err
			}
			return kafka.CreateTopic(ctx, topic, 1)
		},
		Bites: func(ctx context.Context) error {
			d, err := a.topic(ctx, topic)
			if err != nil {
				return err
			}
			if d.ID == old {
				return fmt.Errorf("%q still has the ID %v", topic, old)
			}
			return nil
		},
	}
}

// moved is the one-shot fault of a topic's only partition being led by another broker.
func (a admin) moved(topic string, to int32) testenv.Fault {
	return testenv.Fault{
		Name: fmt.Sprintf("the leader of %s moves to broker %d", topic, to),
		Apply: func(ctx context.Context) error {
			d, err := a.topic(ctx, topic)
			if err != nil {
				return err
			}
			replicas := slices.Clone(d.Partitions[0].Replicas)
			at := slices.Index(replicas, to)
			if at < 0 {
				return fmt.Errorf("broker %d is not among the replicas %v", to, replicas)
			}
			replicas[0], replicas[at] = replicas[at], replicas[0]
			var assign kadm.AlterPartitionAssignmentsReq
			assign.Assign(topic, 0, replicas)
			altered, err := a.AlterPartitionAssignments(ctx, assign)
			if err == nil {
				err = altered.Error()
			}
			return err
		},
		Bites: func(ctx context.Context) error {
			d, err := a.topic(ctx, topic)
			if err != nil {
				return err
			}
			if leader := d.Partitions[0].Leader; leader != to {
				_, err := a.ElectLeaders(ctx, kadm.ElectPreferredReplica, kadm.TopicsSet{topic: {0: {}}})
				return fmt.Errorf("the leader is %d (election: %w)", leader, err)
			}
			return nil
		},
	}
}
