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

// recreated is the one-shot fault of a topic being deleted and made anew, which gives it
// another ID.
func (a admin) recreated(kafka *testenv.Kafka, topic string) testenv.Fault {
	var old kadm.TopicID
	return testenv.Fault{
		Name: called(topic) + " is deleted and made anew",
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

// knowsMoves ends a test on a Kafka that has no request to move a leader.
func knowsMoves(env *testenv.Env, kafka *testenv.Kafka) {
	if kafka.Before(2, 4) {
		env.NotRun("a leader is moved by a request that is new in Kafka 2.4: set BROKERFAULT_KAFKA to that or a later one")
	}
}

// moved is the one-shot fault of a topic's only partition being led by another broker.
func (a admin) moved(topic string, to int32) testenv.Fault {
	return testenv.Fault{
		Name: fmt.Sprintf("the leader of %s moves to broker %d", called(topic), to),
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
				err = altered[topic][0].Err
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

// committed is the probe "the group's offset in the topic's only partition is this".
func (a admin) committed(group, topic string, want int64) testenv.Probe {
	return func(ctx context.Context) error {
		at, err := a.offset(ctx, group, topic)
		if err == nil && at != want {
			err = fmt.Errorf("the offset of %q is %d, not %d", topic, at, want)
		}
		return err
	}
}

// committedAtMost is the probe "the group has no offset there, or one that is not above this".
func (a admin) committedAtMost(group, topic string, most int64) testenv.Probe {
	return func(ctx context.Context) error {
		at, err := a.offset(ctx, group, topic)
		if err == nil && at > most {
			err = fmt.Errorf("the offset of %q is %d, which is above its end, %d", topic, at, most)
		}
		return err
	}
}

// committedAtLeast is the probe "the group has an offset there that is not below this".
func (a admin) committedAtLeast(group, topic string, least int64) testenv.Probe {
	return func(ctx context.Context) error {
		at, err := a.offset(ctx, group, topic)
		if err == nil && at < least {
			err = fmt.Errorf("the offset of %q is %d, below %d", topic, at, least)
		}
		return err
	}
}

// offset is what a group has committed for a topic's only partition; -1 is nothing.
func (a admin) offset(ctx context.Context, group, topic string) (int64, error) {
	all, err := a.FetchOffsets(ctx, group)
	if err != nil {
		return 0, err
	}
	o, there := all.Lookup(topic, 0)
	if !there {
		return -1, nil
	}
	return o.At, o.Err
}
