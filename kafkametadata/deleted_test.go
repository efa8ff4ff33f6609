package kafkametadata

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv"
)

var deletedTopic = testenv.Case{
	Name:   "kafkametadata/deleted-topic",
	Claim:  "a client that goes on producing to and consuming from a deleted topic asks for metadata at a bounded rate, and its other topic's records are as fast as before",
	Issue:  "https://github.com/twmb/franz-go/issues/434",
	Client: underTest,
	Shares: true,
}

// mostPerSecond bounds the metadata requests of a client with a deleted topic. One that
// asks for each record or each poll makes a hundred.
const mostPerSecond = 2

func TestDeletedTopicKeepsMetadataRequestsBoundedAndTheOtherTopicFast(t *testing.T) {
	env := testenv.New(t, deletedTopic)
	kafka, orders, invoices := withTwoTopics(t, env, testenv.KafkaSpec{})
	env.Witness("a fresh client sends to the other topic", freshSends(env, kafka, invoices))
	a := newAdmin(t, env, kafka)
	c := underTestIn(t, env, kafka, kgo.ConsumeTopics(orders, invoices))
	streams := startStreams(env, c, orders, invoices)
	deleted, spared := streams[0], streams[1]
	r := startReader(env, c)
	env.Within("both topics are read", 10*time.Second, func(ctx context.Context) error {
		return errors.Join(r.hasRead(orders, 1, 20)(ctx), r.hasRead(invoices, 1, 20)(ctx))
	})
	observed := env.ByProfile(10*time.Second, time.Minute)
	env.Holds("sends before the deletion", 2*time.Second, spared.neverPauses)
	before := spared.latency(0)
	spared.restarts()
	r.restarts()

	env.Inject(a.deleted(kafka, orders))
	from, asked, began := spared.sent(), kafka.Requests(kmsg.Metadata.Int16()), time.Now()
	env.Holds("the other topic's records go on", observed, spared.neverPauses)
	// By default the client asks four times more for the topic, 5 s apart.
	env.Within("a record to the deleted topic fails", 30*time.Second, func(context.Context) error {
		if n, _ := deleted.failures(); n == 0 {
			return errors.New("none has failed")
		}
		return nil
	})
	asked = kafka.Requests(kmsg.Metadata.Int16()) - asked
	env.Evidence("metadata_requests", asked)
	n, latest := deleted.failures()
	env.Note("%d metadata requests in %v; %d records to the deleted topic failed, the latest with %v", asked, time.Since(began).Round(time.Millisecond), n, latest)
	env.Within("metadata requests stay bounded", time.Second, testenv.AtOnce(func(context.Context) error {
		if most := mostPerSecond * time.Since(began).Seconds(); float64(asked) > most {
			return fmt.Errorf("%d requests in %v", asked, time.Since(began).Round(time.Millisecond))
		}
		return nil
	}))
	after := spared.latency(from)
	env.Note("the other topic's median latency was %v before and %v after", before, after)
	env.Within("the other topic is as fast as before", time.Second, testenv.AtOnce(func(context.Context) error {
		if most := 3*before + 20*time.Millisecond; after > most {
			return fmt.Errorf("the median latency was %v and is %v", before, after)
		}
		return nil
	}))
	env.Holds("the other topic is read on", time.Second, r.readsOn(invoices))
	env.Evidence("longest_gap_ms_read_"+called(invoices), int(r.longestGap(invoices).Milliseconds()))
	readBack(env, kafka, spared)
	env.Within("all of the other topic is read", 10*time.Second, r.hasRead(invoices, 1, spared.sent()))
	// The client would try the record on its way for up to 25 s, and the clean-up wait for it.
	deleted.end()
	c.PurgeTopicsFromClient(orders)
}

// deleted is the one-shot fault of a topic that is deleted.
func (a admin) deleted(kafka *testenv.Kafka, topic string) testenv.Fault {
	return testenv.Fault{
		Name:  called(topic) + " is deleted",
		Apply: func(ctx context.Context) error { return kafka.DeleteTopic(ctx, topic) },
		Bites: func(ctx context.Context) error {
			all, err := a.ListTopics(ctx, topic)
			if err != nil {
				return err
			}
			if err := all[topic].Err; !errors.Is(err, kerr.UnknownTopicOrPartition) {
				return fmt.Errorf("the broker still knows it: %w", err)
			}
			return nil
		},
	}
}

// latency is the median of the acknowledged records from this one on.
func (s *stream) latency(from int) time.Duration {
	s.lock.Lock()
	defer s.lock.Unlock()
	all := slices.Sorted(slices.Values(s.took[from:]))
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}
