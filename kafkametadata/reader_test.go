package kafkametadata

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

// reader polls, keeps account of what it got, and commits it.
type reader struct {
	// commits keeps the reader from committing, not from polling, while it is locked.
	commits sync.Mutex

	lock   sync.Mutex
	topics map[string]*readTopic
}

type readTopic struct {
	numbers map[int]int // how often each came
	err     error       // the latest
	since   time.Time   // the latest record, or the start
	gap     time.Duration
}

// startReader polls until the scenario ends. A client without a group commits nothing.
func startReader(env *testenv.Env, c client) *reader {
	r := &reader{topics: map[string]*readTopic{}}
	var first sync.Once
	env.Go(func(ctx context.Context) {
		for ctx.Err() == nil {
			fetches := c.PollFetches(ctx)
			fetches.EachError(func(topic string, _ int32, err error) { r.book(topic, "", err) })
			for _, record := range fetches.Records() {
				r.book(record.Topic, string(record.Value), nil)
			}
			if group, _ := c.GroupMetadata(); group == "" || !r.commits.TryLock() {
				continue
			}
			if err := c.CommitUncommittedOffsets(ctx); err != nil && ctx.Err() == nil {
				first.Do(func() { env.Note("the first failed commit: %v", err) })
			}
			r.commits.Unlock()
		}
	})
	return r
}

func (r *reader) book(topic, value string, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	t := r.of(topic)
	if err != nil {
		t.err = err
		return
	}
	t.gap = max(t.gap, time.Since(t.since))
	t.since = time.Now()
	if n, err := strconv.Atoi(value); err == nil {
		t.numbers[n]++
	}
}

func (r *reader) of(topic string) *readTopic {
	if r.topics[topic] == nil {
		r.topics[topic] = &readTopic{numbers: map[int]int{}, since: time.Now()}
	}
	return r.topics[topic]
}

// restarts forgets gaps and errors so far.
func (r *reader) restarts() {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, t := range r.topics {
		t.gap, t.since, t.err = 0, time.Now(), nil
	}
}

// hasRead is the probe "each of these numbers was read".
func (r *reader) hasRead(topic string, first, last int) testenv.Probe {
	return func(context.Context) error {
		r.lock.Lock()
		defer r.lock.Unlock()
		t := r.of(topic)
		missing := 0
		for n := first; n <= last; n++ {
			if t.numbers[n] == 0 {
				missing++
			}
		}
		if missing > 0 {
			return errors.Join(fmt.Errorf("of the numbers %d to %d in %q, %d were not read", first, last, topic, missing), t.err)
		}
		return nil
	}
}

// isToldOf is the probe "an error of the topic came, or all of these numbers".
func (r *reader) isToldOf(topic string, first, last int) testenv.Probe {
	read := r.hasRead(topic, first, last)
	return func(ctx context.Context) error {
		if r.hasError(topic) {
			return nil
		}
		if err := read(ctx); err != nil {
			return fmt.Errorf("no error came, and %w", err)
		}
		return nil
	}
}

func (r *reader) hasError(topic string) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.of(topic).err != nil
}

// longestGap is the longest time without a record of the topic, the present one included.
func (r *reader) longestGap(topic string) time.Duration {
	r.lock.Lock()
	defer r.lock.Unlock()
	t := r.of(topic)
	return max(t.gap, time.Since(t.since))
}

// readsOn is the probe "no error of the topic came, and no gap was longer than a fetch
// may wait at the broker by default".
func (r *reader) readsOn(topic string) testenv.Probe {
	const most = 5 * time.Second
	return func(context.Context) error {
		gap := r.longestGap(topic)
		r.lock.Lock()
		defer r.lock.Unlock()
		if err := r.of(topic).err; err != nil {
			return fmt.Errorf("%q has an error: %w", topic, err)
		}
		if gap > most {
			return fmt.Errorf("nothing of %q was read for %v", topic, gap.Round(time.Millisecond))
		}
		return nil
	}
}
