package kafkametadata

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

// oldRecords is how many the old topic has, newRecords how many the new one.
const oldRecords, newRecords = 300, 20

// group is a consumer group that has read and committed all of orders, which has
// oldRecords, and goes on reading invoices, to which a stream flows.
type group struct {
	client
	*reader
	kafka    *testenv.Kafka
	admin    admin
	name     string
	orders   string
	invoices *stream
}

func startGroup(t *testing.T, env *testenv.Env, version string) *group {
	t.Helper()
	kafka, orders, invoices := withTwoTopics(t, env, testenv.KafkaSpec{Version: version})
	g := &group{kafka: kafka, admin: newAdmin(t, env, kafka), name: env.Unique("readers"), orders: orders}
	writer := otherClient(t, env, kafka, "writer")
	g.invoices = startStreams(env, writer, invoices)[0]
	env.Within("the old topic has its records", 30*time.Second, testenv.AtOnce(writer.sendsNumbers(orders, 1, oldRecords)))
	g.client = underTestIn(t, env, kafka, kgo.ConsumeTopics(orders, invoices), kgo.ConsumerGroup(g.name),
		kgo.DisableAutoCommit(), kgo.FetchMaxWait(500*time.Millisecond))
	g.reader = startReader(env, g.client)
	env.Within("the group has read the old topic", 20*time.Second, g.hasRead(orders, 1, oldRecords))
	env.Within("the group has committed the end of the old topic", 20*time.Second, g.admin.committed(g.name, orders, oldRecords))
	env.Within("the group reads the other topic", 20*time.Second, g.hasRead(invoices, 1, 20))
	g.restarts()
	return g
}

// otherClient makes a client that is not under test.
func otherClient(t *testing.T, env *testenv.Env, kafka *testenv.Kafka, name string) client {
	t.Helper()
	c, err := newClient(env, kafka, name)
	require.NoError(t, err)
	env.Closes("the client "+name, c.Close)
	return c
}

// fills sends the records of the new topic.
func (g *group) fills(t *testing.T, env *testenv.Env) {
	t.Helper()
	fresh := otherClient(t, env, g.kafka, "fresh")
	env.Within("a fresh client sends to the new topic", 10*time.Second,
		testenv.AtOnce(fresh.sendsNumbers(g.orders, anew, anew+newRecords-1)))
}

func TestConsumerOfARecreatedTopicIsToldAndReadsItsOtherTopicOn(t *testing.T) {
	env := testenv.New(t, recreatedConsumer)
	g := startGroup(t, env, "")
	env.Inject(g.admin.recreated(g.kafka, g.orders))
	g.fills(t, env)
	env.Recovers("the consumer has an error or the new records", env.ByProfile(15*time.Second, time.Minute),
		g.isToldOf(g.orders, anew, anew+newRecords-1))
	env.Holds("the other topic is read on", time.Second, g.readsOn(g.invoices.topic))
	env.Evidence("longest_gap_ms_read_"+called(g.invoices.topic), int(g.longestGap(g.invoices.topic).Milliseconds()))

	g.PurgeTopicsFromClient(g.orders)
	g.AddConsumeTopics(g.orders)
	env.Within("after purging and adding it the same client reads the new topic", 15*time.Second,
		g.hasRead(g.orders, anew, anew+newRecords-1))
	env.Within("its offsets are committed", 10*time.Second, g.admin.committed(g.name, g.orders, newRecords))
	readBack(env, g.kafka, g.invoices)
	env.Within("the group has read all of the other topic", 10*time.Second, g.hasRead(g.invoices.topic, 1, g.invoices.sent()))
}

func TestNoOldOffsetIsCommittedOnceTheRecreatedTopicIsTold(t *testing.T) {
	env := testenv.New(t, recreatedOffsets)
	g := startGroup(t, env, "")
	g.hasUncommitted(t, env)
	fault := g.admin.recreated(g.kafka, g.orders)
	began := time.Now()
	env.Inject(fault)
	// A commit names the topic only, so a client that is not told yet cannot know better.
	// One that never is gets five seconds.
	env.Within("the consumer has an error, or had its time to have one", 10*time.Second, func(context.Context) error {
		if !g.hasError(g.orders) && time.Since(began) < 5*time.Second {
			return errors.New("no error came yet")
		}
		return nil
	})
	g.commits.Unlock()
	g.keepsOldOffsets(t, env)
}

// A topic that the consumer has paused is not fetched, so nothing tells it that the topic
// was made anew.
func TestPausedConsumerCommitsNoOldOffsetToARecreatedTopic(t *testing.T) {
	for _, version := range testenv.KafkaVersions("4.4.0") {
		t.Run("on "+version, func(t *testing.T) {
			env := testenv.New(t, pausedOffsets)
			g := startGroup(t, env, version)
			g.hasUncommitted(t, env)
			g.PauseFetchTopics(g.orders)
			env.Inject(g.admin.recreated(g.kafka, g.orders))
			g.commits.Unlock()
			g.keepsOldOffsets(t, env)
		})
	}
}

// hasUncommitted makes the group read records whose offsets it does not commit until
// commits is unlocked.
func (g *group) hasUncommitted(t *testing.T, env *testenv.Env) {
	t.Helper()
	g.commits.Lock()
	writer := otherClient(t, env, g.kafka, "late writer")
	env.Within("the old topic has more records", 10*time.Second, testenv.AtOnce(writer.sendsNumbers(g.orders, oldRecords+1, oldRecords+10)))
	env.Within("the group has read what it has not committed", 10*time.Second, g.hasRead(g.orders, oldRecords+1, oldRecords+10))
}

// keepsOldOffsets wants the group to commit on, but nothing of the old topic.
func (g *group) keepsOldOffsets(t *testing.T, env *testenv.Env) {
	t.Helper()
	g.fills(t, env)
	sent := int64(g.invoices.sent())
	env.Within("the other topic's offsets are committed on", 10*time.Second, g.admin.committedAtLeast(g.name, g.invoices.topic, sent))
	env.Holds(noOldOffset, env.ByProfile(6*time.Second, 30*time.Second), g.admin.committedAtMost(g.name, g.orders, newRecords))
	readBack(env, g.kafka, g.invoices)
}
