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

// pace is the pause between two records of a stream.
const pace = 5 * time.Millisecond

// stream sends numbered records to a topic, one after another, and keeps account of
// them.
type stream struct {
	topic string
	first int // its first number
	end   context.CancelFunc
	done  chan struct{}

	lock   sync.Mutex
	acked  []int
	took   []time.Duration // of each of them
	failed map[int]error
	latest error
	since  time.Time     // the latest acknowledgement, or the start
	gap    time.Duration // the longest time without one
	heard  time.Time     // the latest outcome of either kind
}

// startStream sends the numbers from first on until stop is called, or the scenario ends.
func startStream(env *testenv.Env, c client, topic string, first int) *stream {
	ctx, end := context.WithCancel(env.Context())
	s := &stream{topic: topic, first: first, end: end, done: make(chan struct{}), failed: map[int]error{}, since: time.Now()}
	env.Go(func(context.Context) {
		defer close(s.done)
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for n := first; ; n++ {
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
			if ctx.Err() != nil {
				return // also where both had come
			}
			// A record on its way at the end is awaited, so that its outcome is known.
			began := time.Now()
			err := c.send(env.Context(), topic, strconv.Itoa(n))
			s.book(n, err, time.Since(began))
		}
	})
	return s
}

func (s *stream) book(n int, err error, took time.Duration) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.heard = time.Now()
	if err != nil {
		s.failed[n], s.latest = err, err
		return
	}
	s.acked, s.took = append(s.acked, n), append(s.took, took)
	s.gap = max(s.gap, time.Since(s.since))
	s.since = time.Now()
}

// sent is how many records were acknowledged.
func (s *stream) sent() int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return len(s.acked)
}

// longestGap is the longest time without an acknowledgement, the present one included.
func (s *stream) longestGap() time.Duration {
	s.lock.Lock()
	defer s.lock.Unlock()
	return max(s.gap, time.Since(s.since))
}

// restarts forgets the gap so far.
func (s *stream) restarts() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.gap, s.since = 0, time.Now()
}

// failures is how many records failed, and with what the latest.
func (s *stream) failures() (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return len(s.failed), s.latest
}

// neverPauses is the probe "no record has failed and no gap is longer than noPause".
func (s *stream) neverPauses(context.Context) error {
	if n, err := s.failures(); n > 0 {
		return fmt.Errorf("%d records to %q failed: %w", n, s.topic, err)
	}
	if gap := s.longestGap(); gap > noPause {
		return fmt.Errorf("no record to %q was acknowledged for %v", s.topic, gap.Round(time.Millisecond))
	}
	return nil
}

// goesOn is a probe that succeeds once some more records have been acknowledged.
func (s *stream) goesOn() testenv.Probe {
	const more = 20
	want := s.sent() + more
	return func(context.Context) error {
		if s.sent() >= want {
			return nil
		}
		n, err := s.failures()
		return errors.Join(fmt.Errorf("%d records to %q are acknowledged, %d of %d more, the longest gap being %v, and %d failed",
			s.sent(), s.topic, more-(want-s.sent()), more, s.longestGap().Round(time.Millisecond), n), err)
	}
}

// isHeardOf is a probe that succeeds once a record has an outcome that came after now.
func (s *stream) isHeardOf() testenv.Probe {
	asked := time.Now()
	return func(context.Context) error {
		s.lock.Lock()
		defer s.lock.Unlock()
		if s.heard.After(asked) {
			return nil
		}
		return fmt.Errorf("the latest outcome of a record to %q is %v old", s.topic, time.Since(s.heard).Round(time.Millisecond))
	}
}

// stop ends the stream once the record on its way has its outcome.
func (s *stream) stop(ctx context.Context) error {
	s.end()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the last record to %q has no outcome: %w", s.topic, ctx.Err())
	}
}

// account compares with what was read back: each acknowledged record is there, none is
// there before an earlier one or, with once, a second time, and what failed may be there.
func (s *stream) account(read []string, once bool) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	there := map[int]bool{}
	last := 0
	for _, value := range read {
		n, err := strconv.Atoi(value)
		if err != nil || n < s.first {
			continue // a probe's, or an earlier stream's
		}
		if n < last || n == last && once {
			return fmt.Errorf("record %d of %q comes after %d", n, s.topic, last)
		}
		last, there[n] = n, true
	}
	for _, n := range s.acked {
		if !there[n] {
			return fmt.Errorf("record %d of %q was acknowledged and is not there", n, s.topic)
		}
		delete(there, n)
	}
	for n := range there {
		if s.failed[n] == nil {
			return fmt.Errorf("record %d of %q is there and has no outcome", n, s.topic)
		}
	}
	return nil
}
