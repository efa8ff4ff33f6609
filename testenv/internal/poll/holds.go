package poll

import "context"

// Holds runs the probe for the whole budget and wants nil from every one.
//
// The first failure ends it with a *NotHeld. The probe in flight when the budget
// ends may finish within its grace; one that errs only because the budget's own
// context ended is no failure, but at least one probe must have succeeded. A hung
// probe is a failure (errors.Is ErrHung). As in Until an *Ended says that the wait
// could not go on.
func Holds(ctx context.Context, o Options, p Probe) (Result, error) {
	w, cancel, err := begin(ctx, o)
	if err != nil {
		return Result{}, err
	}
	defer cancel()

	succeeded := false
	for {
		if ctx.Err() != nil {
			return w.result, w.ended(context.Cause(ctx))
		}
		out, err := w.attempt(p)
		switch {
		case w.result.Hung:
			return w.result, w.notHeld()
		case err != nil:
			return w.result, err
		case out.err == nil:
			succeeded = true
		case w.cutShort(out) && succeeded:
			w.result.Last = nil
			return w.result, nil
		default:
			return w.result, w.notHeld()
		}
		if !w.pause() && ctx.Err() == nil {
			return w.result, nil
		}
	}
}

func (w *wait) notHeld() error {
	return &NotHeld{Budget: w.options.Budget, Result: w.result}
}
