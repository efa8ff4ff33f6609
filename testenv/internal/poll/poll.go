// Package poll is the loop behind every wait: it runs a probe again and again
// within a budget and says what came of it.
//
// It bounds each probe from outside, because a client under test may neither
// fail nor return (pulsar-client-go v0.11.1 was seen to hang inside Send, deaf to
// its context): such a probe is reported as hung and its goroutine is abandoned.
// The package knows no testing.TB and no broker; it returns errors.
package poll

import (
	"context"
	"fmt"
	"time"
)

const (
	defaultEvery = 20 * time.Millisecond
	defaultGrace = time.Second
)

// Probe tries the awaited thing once. It runs in a goroutine of its own, so it
// must return errors and may not call t.FailNow or testify's require. Its context
// ends with the budget.
type Probe func(ctx context.Context) error

// Options bound a wait.
type Options struct {
	// Budget is how long the whole wait may take. Zero or less is an error.
	Budget time.Duration
	// Every is the pause between the end of a probe and the start of the next.
	// Zero means 20ms.
	Every time.Duration
	// Grace is how long a probe may go on after the budget's end before it counts
	// as hung. Zero means 1s.
	Grace time.Duration
}

// Result is what a wait saw, whether it ended well or not.
type Result struct {
	// Probes is how many probes were started.
	Probes int
	// Took is the time from the start of the wait to the end of the deciding
	// probe, or to the moment the wait gave up on it.
	Took time.Duration
	// Last is the last error that tells something: an error which only says that
	// the budget ended does not replace an earlier one. Nil after a success.
	Last error
	// Hung tells that the last probe did not return within its grace. Its
	// goroutine is still there.
	Hung bool
}

// wait is one call of Until or Holds.
type wait struct {
	outer    context.Context
	probes   context.Context // outer, bounded by the budget
	options  Options
	start    time.Time
	deadline time.Time
	result   Result
}

func begin(ctx context.Context, o Options) (*wait, context.CancelFunc, error) {
	if o.Budget <= 0 {
		return nil, nil, fmt.Errorf("poll: budget is %s, want more than zero", o.Budget)
	}
	if o.Every <= 0 {
		o.Every = defaultEvery
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	start := time.Now()
	w := &wait{outer: ctx, options: o, start: start, deadline: start.Add(o.Budget)}
	probes, cancel := context.WithDeadline(ctx, w.deadline)
	w.probes = probes
	return w, cancel, nil
}

// pause waits until the next probe is due. It returns false when the budget or
// the outer context ended first.
func (w *wait) pause() bool {
	timer := time.NewTimer(w.options.Every)
	defer timer.Stop()
	select {
	case <-timer.C:
		return w.probes.Err() == nil && time.Now().Before(w.deadline)
	case <-w.probes.Done():
		return false
	}
}
