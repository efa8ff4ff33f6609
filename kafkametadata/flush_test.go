package kafkametadata

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv"
)

// flush is a record to each of some topics, sent together.
type flush struct {
	topics []string
	errs   []error         // readable after done
	took   []time.Duration // of each
	open   atomic.Int64
	done   chan struct{}
}

func newFlush(topics ...string) *flush {
	f := &flush{topics: topics, done: make(chan struct{})}
	f.errs, f.took = make([]error, len(topics)), make([]time.Duration, len(topics))
	f.open.Store(int64(len(topics)))
	return f
}

// start sends without waiting.
func (f *flush) start(ctx context.Context, c client) {
	began := time.Now()
	for i, topic := range f.topics {
		c.Produce(ctx, &kgo.Record{Topic: topic, Value: []byte("flushed")}, func(_ *kgo.Record, err error) {
			f.errs[i], f.took[i] = err, time.Since(began)
			if f.open.Add(-1) == 0 {
				close(f.done)
			}
		})
	}
}

// over says whether every record has its outcome.
func (f *flush) over() bool { return f.open.Load() == 0 }

// ends is the probe "every record has the outcome that its topic deserves".
func (f *flush) ends(deserves func(topic string, err error) error) testenv.Probe {
	return func(context.Context) error {
		if !f.over() {
			return fmt.Errorf("%d of the records to %q have no outcome", f.open.Load(), f.topics)
		}
		<-f.done
		for i, topic := range f.topics {
			if err := deserves(topic, f.errs[i]); err != nil {
				return testenv.Stop(fmt.Errorf("the record to %q, after %v: %w", topic, f.took[i].Round(time.Millisecond), err))
			}
		}
		return nil
	}
}

// isOpen is the probe "a record has no outcome yet".
func (f *flush) isOpen() testenv.Probe {
	return func(context.Context) error {
		if f.over() {
			<-f.done
			return fmt.Errorf("after %v the records have their outcomes: %v", f.took, f.errs)
		}
		return nil
	}
}

// tookAtLeast is the probe "no record had its outcome sooner".
func (f *flush) tookAtLeast(least time.Duration) testenv.Probe {
	return func(context.Context) error {
		<-f.done
		if first := slices.Min(f.took); first < least {
			return fmt.Errorf("a record had its outcome after %v", first)
		}
		return nil
	}
}

// sent is the one-shot fault of sending the flush. It bites when the brokers were asked
// for metadata, or the client has refused the records by itself.
func (f *flush) sent(env *testenv.Env, kafka *testenv.Kafka, c client, what string) testenv.Fault {
	before := 0
	return testenv.Fault{
		Name: "a record is sent to " + what,
		Apply: func(context.Context) error {
			before = kafka.Requests(kmsg.Metadata.Int16())
			f.start(env.Context(), c)
			return nil
		},
		Bites: func(context.Context) error {
			if kafka.Requests(kmsg.Metadata.Int16()) > before || f.over() {
				return nil
			}
			return errors.New("nobody was asked for metadata")
		},
	}
}
