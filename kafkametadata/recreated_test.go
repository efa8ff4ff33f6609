package kafkametadata

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

// anew is where the numbers of the records to the new topic begin.
const anew = 1_000_000

var recreatedProducer = testenv.Case{
	Name:   "kafkametadata/recreated-topic-producer",
	Claim:  "a producer's topic that is deleted and made anew takes its records or fails them, its other topic never pauses, and after a purge the same client sends",
	Issue:  "https://github.com/twmb/franz-go/issues/1426",
	Client: underTest,
}

var recreatedConsumer = testenv.Case{
	Name:   "kafkametadata/recreated-topic-consumer",
	Claim:  "a group consumer of a topic that is deleted and made anew reads the new records or says an error, reads its other topic on, and commits no old offset to the new topic",
	Issue:  "https://github.com/twmb/franz-go/issues/908",
	Client: underTest,
}

// withTwoTopics starts a broker with orders and invoices.
func withTwoTopics(t *testing.T, env *testenv.Env) *testenv.Kafka {
	t.Helper()
	kafka := env.StartKafka(testenv.KafkaSpec{})
	for _, topic := range []string{orders, invoices} {
		require.NoError(t, kafka.CreateTopic(env.Context(), topic, 1))
	}
	env.Witness("a fresh client sends", freshSends(env, kafka, orders))
	return kafka
}

func TestProducerOfARecreatedTopicIsToldAndItsOtherTopicGoesOn(t *testing.T) {
	env := testenv.New(t, recreatedProducer)
	kafka := withTwoTopics(t, env)
	a := newAdmin(t, env, kafka)
	c := underTestIn(t, env, kafka)
	streams := startStreams(env, c, orders, invoices)
	lost, spared := streams[0], streams[1]

	env.Inject(a.recreated(kafka, orders))
	env.Recovers("a record to the new topic is taken or fails", 10*time.Second, lost.isHeardOf())
	env.Within("and goes on being taken or failing", 5*time.Second, lost.isHeardOf())
	_, latest := lost.failures()
	env.Note("the latest error of the recreated topic: %v", latest)
	env.Holds("the other topic never pauses", time.Second, spared.neverPauses(noPause))
	env.Evidence("longest_gap_ms_"+invoices, int(spared.longestGap().Milliseconds()))

	env.Within("the stream to the old topic ends", 10*time.Second, testenv.AtOnce(lost.stop))
	c.PurgeTopicsFromClient(orders)
	again := startStream(env, c, orders, anew)
	env.Within("after a purge the same client sends to the new topic", 15*time.Second, again.goesOn(100))
	env.Holds("the other topic never pauses", time.Second, spared.neverPauses(noPause))
	readBack(env, kafka, again, spared)
}

func TestConsumerOfARecreatedTopicIsToldAndCommitsNoOldOffset(t *testing.T) {
	const group, before, after = "readers", 300, 20
	env := testenv.New(t, recreatedConsumer)
	kafka := withTwoTopics(t, env)
	a := newAdmin(t, env, kafka)
	writer, err := newClient(env, kafka, "writer")
	require.NoError(t, err)
	env.Closes("the writer", writer.Close)
	c := underTestIn(t, env, kafka, kgo.ConsumeTopics(orders, invoices), kgo.ConsumerGroup(group), kgo.DisableAutoCommit(), kgo.FetchMaxWait(500*time.Millisecond))
	r := startReader(env, c)
	spared := startStreams(env, writer, invoices)[0]
	env.Within("the old topic has its records", 30*time.Second, testenv.AtOnce(writer.sendsNumbers(orders, 1, before)))
	env.Within("the group has read the old topic", 20*time.Second, r.hasRead(orders, 1, before))
	env.Within("the group has committed an offset of the old topic", 20*time.Second, a.committed(group, orders, before))
	env.Within("the group reads the other topic", 20*time.Second, r.hasRead(invoices, 1, 20))
	r.restarts()

	// The reader has records whose offsets it commits only after the topic was made anew.
	r.commits.Lock()
	env.Within("the old topic has more records", 10*time.Second, testenv.AtOnce(writer.sendsNumbers(orders, before+1, before+after)))
	env.Within("the group has read what it has not committed", 10*time.Second, r.hasRead(orders, before+1, before+after))
	env.Inject(a.recreated(kafka, orders))
	r.commits.Unlock()

	fresh, err := newClient(env, kafka, "fresh")
	require.NoError(t, err)
	env.Closes("the fresh writer", fresh.Close)
	env.Within("a fresh client sends to the new topic", 10*time.Second, testenv.AtOnce(fresh.sendsNumbers(orders, anew, anew+after-1)))
	env.Recovers("the consumer has an error or the new records", 15*time.Second, r.isToldOf(orders, anew, anew+after-1))
	env.Holds("no old offset is committed to the new topic", env.ByProfile(5*time.Second, 30*time.Second), a.committedAtMost(group, orders, after))
	env.Holds("the other topic is read on", time.Second, r.readsOn(invoices, 5*time.Second))
	env.Evidence("longest_gap_ms_read_"+invoices, int(r.longestGap(invoices).Milliseconds()))

	c.PurgeTopicsFromClient(orders)
	c.AddConsumeTopics(orders)
	env.Within("after purging and adding it the same client reads the new topic", 15*time.Second, r.hasRead(orders, anew, anew+after-1))
	env.Within("its offsets are committed", 10*time.Second, a.committed(group, orders, after))
	readBack(env, kafka, spared)
	env.Within("the group has read all of the other topic", 10*time.Second, r.hasRead(invoices, 1, spared.sent()))
}

// sendsNumbers is the probe "each of these numbers is taken".
func (c client) sendsNumbers(topic string, first, last int) testenv.Probe {
	return func(ctx context.Context) error {
		var all []*kgo.Record
		for n := first; n <= last; n++ {
			all = append(all, &kgo.Record{Topic: topic, Value: fmt.Append(nil, n)})
		}
		return c.ProduceSync(ctx, all...).FirstErr()
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
