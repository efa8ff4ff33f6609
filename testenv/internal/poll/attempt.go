package poll

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"
)

// outcome is what one probe's goroutine hands over. It is sent once on a channel
// with room for it and never touched again, so an abandoned probe shares nothing.
type outcome struct {
	err error
	end time.Time
	// broken tells that the probe panicked or ended its goroutine.
	broken bool
}

// attempt runs one probe and waits for its end, the outer context's end or the
// end of its grace, whichever comes first. A non-nil error ends the wait.
func (w *wait) attempt(p Probe) (outcome, error) {
	w.result.Probes++
	done := make(chan outcome, 1)
	go run(w.probes, p, done)

	hung := time.NewTimer(time.Until(w.deadline.Add(w.options.Grace)))
	defer hung.Stop()
	var out outcome
	select {
	case out = <-done:
	case <-w.outer.Done():
		// What was finished when the context ended still counts.
		select {
		case out = <-done:
		default:
			w.result.Took = time.Since(w.start)
			return outcome{}, w.ended(context.Cause(w.outer))
		}
	case <-hung.C:
		select {
		case out = <-done:
		default:
			w.result.Took = time.Since(w.start)
			w.result.Hung = true
			w.result.Last = after(ErrHung, w.result.Last)
			return outcome{}, w.result.Last
		}
	}
	return out, w.judge(out)
}

// judge books an outcome and returns an error if it ends any kind of wait.
func (w *wait) judge(out outcome) error {
	w.result.Took = out.end.Sub(w.start)
	var stop *stopped
	switch {
	case out.err == nil:
		w.result.Last = nil
		return nil
	case out.broken:
		w.result.Last = out.err
		return w.ended(out.err)
	case errors.As(out.err, &stop) && !w.cutShort(out):
		// Unwrapped only at the top: what a caller wrapped around Stop tells more.
		w.result.Last = out.err
		if top, ok := out.err.(*stopped); ok { //nolint:errorlint // only the outermost is taken off
			w.result.Last = top.err
		}
		return w.ended(w.result.Last)
	}
	if !w.cutShort(out) || w.result.Last == nil {
		w.result.Last = out.err
	}
	if w.outer.Err() != nil {
		return w.ended(context.Cause(w.outer))
	}
	return nil
}

// cutShort tells whether a probe erred only because its context had ended. A
// connection whose deadline was taken from that context errs with
// os.ErrDeadlineExceeded.
func (w *wait) cutShort(out outcome) bool {
	if out.end.Before(w.deadline) && w.probes.Err() == nil {
		return false
	}
	return errors.Is(out.err, context.DeadlineExceeded) ||
		errors.Is(out.err, context.Canceled) ||
		errors.Is(out.err, os.ErrDeadlineExceeded)
}

func run(ctx context.Context, p Probe, done chan<- outcome) {
	returned := false
	var err error
	defer func() {
		out := outcome{err: err, end: time.Now()}
		if !returned {
			out.broken = true
			// A panic reaches the wait as an error: the test's cleanup, which stops
			// brokers, has to go on.
			if value := recover(); value != nil {
				out.err = &Panicked{Value: value, Stack: debug.Stack()}
			} else {
				out.err = ErrGoexit
			}
		}
		done <- out
	}()
	err = p(ctx)
	returned = true
}
