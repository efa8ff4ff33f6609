package poll

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrHung is found in the error of a wait whose last probe did not return.
	ErrHung = errors.New("did not return")
	// ErrGoexit is found in the error of a wait whose probe called runtime.Goexit.
	ErrGoexit = errors.New("the probe ended its goroutine: use errors, not require")
)

// NotWithin says that no probe succeeded within the budget.
type NotWithin struct {
	Budget time.Duration
	// Late is how long after the budget's end the success came; zero if none did.
	Late time.Duration
	Result
}

func (e *NotWithin) Error() string {
	return fmt.Sprintf("not within %s (%s); last: %v", short(e.Budget), e.count(), e.Last)
}

// Unwrap returns the last probe's error.
func (e *NotWithin) Unwrap() error { return e.Last }

// NotHeld says that a probe failed before the budget's end, or that none
// succeeded.
type NotHeld struct {
	Budget time.Duration
	Result
}

func (e *NotHeld) Error() string {
	return fmt.Sprintf("held %s of %s (%s): %v", short(min(e.Took, e.Budget)), short(e.Budget), e.count(), e.Last)
}

// Unwrap returns the failed probe's error.
func (e *NotHeld) Unwrap() error { return e.Last }

// Ended says that the wait ended before it could decide.
type Ended struct {
	Budget time.Duration
	// Why is the context's cause, the error given to Stop, a *Panicked or ErrGoexit.
	Why error
	Result
}

func (e *Ended) Error() string {
	text := fmt.Sprintf("ended after %s of %s (%s): %v", short(e.Took), short(e.Budget), e.count(), e.Why)
	if e.Last != nil && e.Last.Error() != e.Why.Error() {
		text += fmt.Sprintf("; last: %v", e.Last)
	}
	return text
}

// Unwrap returns the reason and the last probe's error.
func (e *Ended) Unwrap() []error {
	if e.Last == nil {
		return []error{e.Why}
	}
	return []error{e.Why, e.Last}
}

func (w *wait) ended(why error) error {
	return &Ended{Budget: w.options.Budget, Why: why, Result: w.result}
}

// Panicked is a panic of a probe.
type Panicked struct {
	Value any
	Stack []byte
}

func (e *Panicked) Error() string {
	return fmt.Sprintf("the probe panicked: %v\n%s", e.Value, e.Stack)
}

// Unwrap returns the panic's value if it is an error.
func (e *Panicked) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

type stopped struct{ err error }

// Stop marks an error after which no further probe makes sense. The wait ends at
// once and returns it without the mark. Stop(nil) is nil.
func Stop(err error) error {
	if err == nil {
		return nil
	}
	return &stopped{err}
}

func (e *stopped) Error() string { return e.err.Error() }
func (e *stopped) Unwrap() error { return e.err }

// after puts the error that ended a wait in front of the one seen before it.
func after(err, before error) error {
	if before == nil {
		return err
	}
	return fmt.Errorf("%w; before that: %w", err, before)
}

func (r Result) count() string {
	if r.Probes == 1 {
		return "1 probe"
	}
	return fmt.Sprintf("%d probes", r.Probes)
}

// short leaves out digits that no reader wants.
func short(d time.Duration) time.Duration {
	if d >= 10*time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}
