package kafkatxn

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

// reader is a consumer that reads a topic from its beginning as long as the test goes on.
type reader struct {
	name string
	mu   sync.Mutex
	// values are what it has read, in order; last is the latest error.
	values []string
	last   error
}

// reader starts a consumer with an isolation level.
func (s *scene) reader(name string, level kgo.IsolationLevel, topics ...string) *reader {
	return s.reads(name, s.client(name, kgo.ConsumeTopics(topics...), kgo.FetchIsolationLevel(level),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())))
}

// reads makes a reader of a client that consumes.
func (s *scene) reads(name string, c *kgo.Client) *reader {
	r := &reader{name: name}
	s.env.Go(func(ctx context.Context) {
		for ctx.Err() == nil {
			f := c.PollFetches(ctx)
			if f.IsClientClosed() {
				return
			}
			r.take(f)
		}
	})
	return r
}

func (r *reader) take(f kgo.Fetches) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.EachError(func(_ string, _ int32, err error) { r.last = err })
	f.EachRecord(func(record *kgo.Record) { r.values = append(r.values, string(record.Value)) })
}

// hasRead succeeds once it has read exactly these, in this order. What it has read
// beyond them or in another order no patience mends.
func (r *reader) hasRead(want ...string) testenv.Probe {
	return func(context.Context) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if slices.Equal(r.values, want) {
			return nil
		}
		err := fmt.Errorf("%s has read %q, not %q", r.name, r.values, want)
		if r.last != nil {
			err = fmt.Errorf("%w; its last error: %w", err, r.last)
		}
		if len(r.values) > len(want) || !slices.Equal(r.values, want[:len(r.values)]) {
			return testenv.Stop(err)
		}
		return err
	}
}

// onlyRead succeeds as long as it has read these and nothing else: a starving reader.
func (r *reader) onlyRead(want ...string) testenv.Probe {
	return testenv.AtOnce(r.hasRead(want...))
}

// freshReads is the witness of a test whose reader starves: a consumer made now.
func (s *scene) freshReads(want ...string) testenv.Probe {
	return func(ctx context.Context) error {
		return s.witnessReads(ctx, want, kgo.ConsumeTopics(s.orders), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	}
}

// witnessReads has a consumer that is made now, and closed, read until it has read these.
func (s *scene) witnessReads(ctx context.Context, want []string, as ...kgo.Opt) error {
	c, err := kgo.NewClient(s.options("witness", as...)...)
	if err != nil {
		return err
	}
	// A member's close may wait for the very broker that hangs.
	defer func() { go c.CloseAllowingRebalance() }()
	fresh := &reader{name: "a fresh reader"}
	for ctx.Err() == nil {
		fresh.take(c.PollFetches(ctx))
		if err := fresh.hasRead(want...)(ctx); err == nil {
			return nil
		}
	}
	return fresh.hasRead(want...)(ctx)
}
