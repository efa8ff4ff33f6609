package poll

import (
	"context"
	"fmt"
	"time"
)

// Until runs the probe until it returns nil within the budget. The first probe
// starts at once.
//
// The error is a *NotWithin when the budget ended first, which includes a success
// that came too late and a probe that hung (errors.Is ErrHung). It is an *Ended
// when the wait could not go on: ctx ended (errors.Is finds its cause), even while
// a probe is in flight, or the probe gave up with Stop, panicked or ended its
// goroutine.
func Until(ctx context.Context, o Options, p Probe) (Result, error) {
	w, cancel, err := begin(ctx, o)
	if err != nil {
		return Result{}, err
	}
	defer cancel()

	for {
		if ctx.Err() != nil {
			return w.result, w.ended(context.Cause(ctx))
		}
		out, err := w.attempt(p)
		switch {
		case w.result.Hung:
			return w.result, w.notWithin(0)
		case err != nil:
			return w.result, err
		case out.err == nil:
			late := out.end.Sub(w.deadline)
			if late <= 0 {
				return w.result, nil
			}
			w.result.Last = fmt.Errorf("success came %s too late", short(late))
			return w.result, w.notWithin(late)
		}
		if !w.pause() && ctx.Err() == nil {
			return w.result, w.notWithin(0)
		}
	}
}

func (w *wait) notWithin(late time.Duration) error {
	return &NotWithin{Budget: w.options.Budget, Late: late, Result: w.result}
}
