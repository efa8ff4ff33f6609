package kafkametadata

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv"
)

var pipelined = testenv.Case{
	Name:   "kafkametadata/pipelined-produces",
	Claim:  "pipelined produces whose answers are held, delayed, dropped or lost are all stored, once and in order",
	Client: underTest,
	Shares: true,
}

// burst is many records at once to one partition, in small batches.
type burst struct {
	topic string
	lock  sync.Mutex
	next  int
	open  int
	acked []int
	err   error
}

// start sends so many records without waiting.
func (b *burst) start(ctx context.Context, c client, records int) {
	for range records {
		b.lock.Lock()
		b.next++
		b.open++
		n := b.next
		b.lock.Unlock()
		c.Produce(ctx, &kgo.Record{Topic: b.topic, Value: []byte(strconv.Itoa(n))}, func(_ *kgo.Record, err error) {
			b.lock.Lock()
			defer b.lock.Unlock()
			b.open--
			if err != nil {
				b.err = fmt.Errorf("record %d: %w", n, err)
				return
			}
			b.acked = append(b.acked, n)
		})
	}
}

// acknowledged is the probe "all that was sent is acknowledged".
func (b *burst) acknowledged(context.Context) error {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.err != nil {
		return testenv.Stop(b.err)
	}
	if b.open > 0 {
		return fmt.Errorf("%d of %d records are not acknowledged", b.open, b.next)
	}
	return nil
}

func TestPipelinedProducesAreStoredOnceAndInOrder(t *testing.T) {
	const records = 1000
	env := testenv.New(t, pipelined)
	kafka, orders := env.StartKafka(testenv.KafkaSpec{}), env.Unique("orders")
	require.NoError(t, kafka.CreateTopic(env.Context(), orders, 1))
	env.Witness("a fresh client sends", freshSends(env, kafka, orders))
	// Batches of a few records make the client pipeline; a short timeout makes it notice
	// a dropped answer soon.
	c := underTestIn(t, env, kafka, kgo.ProducerLinger(0), kgo.ProducerBatchMaxBytes(512),
		kgo.ProduceRequestTimeout(time.Second), kgo.RequestTimeoutOverhead(time.Second))
	b := &burst{topic: orders}
	b.start(env.Context(), c, records)
	env.Within("the burst before the fault is acknowledged", 20*time.Second, b.acknowledged)

	before := kafka.Requests(kmsg.Produce.Int16())
	held := env.Inject(kafka.Hold(testenv.KafkaFrames{Key: kmsg.Produce.Int16(), Answers: true}).Then(func(context.Context) error {
		b.start(env.Context(), c, records)
		return nil
	}))
	env.Within("the client pipelines: four requests are on their way without an answer", 5*time.Second, func(context.Context) error {
		if n := kafka.Requests(kmsg.Produce.Int16()) - before; n < 4 {
			return fmt.Errorf("%d requests are", n)
		}
		return nil
	})
	held.Heal()
	env.Recovers("all records are acknowledged after the answers' release", 20*time.Second, b.acknowledged)

	third := testenv.KafkaFrames{Key: kmsg.Produce.Int16(), Answers: true, Nth: 3}
	for _, fault := range []testenv.Fault{
		kafka.Hold(third),
		kafka.Delay(testenv.KafkaFrames{Key: kmsg.Produce.Int16(), Answers: true}, 50*time.Millisecond),
		kafka.Drop(third),
		kafka.Lose(third),
		kafka.Lose(testenv.KafkaFrames{Key: kmsg.Produce.Int16(), Nth: 3}),
		kafka.Drop(testenv.KafkaFrames{Key: kmsg.Produce.Int16(), Nth: 3}),
	} {
		injected := env.Inject(fault.Then(func(context.Context) error {
			b.start(env.Context(), c, records)
			return nil
		}))
		injected.Heal()
		env.Recovers("all records are acknowledged, though "+fault.Name, 20*time.Second, b.acknowledged)
	}
	env.Within("all records are there, once and in order", 20*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		read, err := readAll(ctx, env, kafka, orders)
		if err != nil {
			return err
		}
		all := &stream{topic: orders, acked: b.acked}
		return all.account(read, true)
	}))
}
