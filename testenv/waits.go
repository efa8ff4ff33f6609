package testenv

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

// Probe tries something once. It should heed its context, which ends with the
// wait's budget; one that does not is noted as hung and left behind.
type Probe = func(ctx context.Context) error

// Stop wraps an error that no further probe can mend, so that a wait gives up at once.
func Stop(err error) error { return poll.Stop(err) }

// AtOnce makes a probe final: what fails the first time has failed.
func AtOnce(probe Probe) Probe {
	return func(ctx context.Context) error {
		if err := probe(ctx); err != nil {
			return Stop(err)
		}
		return nil
	}
}

// InARow is the probe that another succeeds n times, one after the other: that traffic
// flows, as a scenario states of its client before the fault, and, with AtOnce around it,
// that it is steady afterwards. It fails at the first failure. n below 1 counts as 1.
func InARow(n int, probe Probe) Probe {
	n = max(n, 1)
	return func(ctx context.Context) error {
		for i := range n {
			if err := probe(ctx); err != nil {
				return fmt.Errorf("after %d of %d in a row: %w", i, n, err)
			}
		}
		return nil
	}
}

// Within waits until the probe succeeds, and fails the test if it has not
// within the budget (scaled by BROKERFAULT_SCALE). The first probe comes at once.
func (e *Env) Within(claim string, budget time.Duration, probe Probe) {
	e.t.Helper()
	budget = e.budget(claim, budget)
	wait := evidence.Begun(claim, budget)
	e.sayWait(wait, "within", "%s, budget %v", claim, budget)
	r, err := poll.Until(e.ctx, poll.Options{Budget: budget}, e.observed(probe))
	if err != nil {
		e.failed(claim, err)
	}
	e.judged = e.injected
	e.sayWait(wait.After(r.Took), "holds", "%s: after %v (%d probes)", claim, r.Took.Round(time.Millisecond), r.Probes)
}

// Holds probes for the whole duration and fails the test at the first probe that does not
// succeed. BROKERFAULT_SCALE does not make it longer: what holds until a broker's timeout
// holds no longer on a slow machine.
func (e *Env) Holds(claim string, duration time.Duration, probe Probe) {
	e.t.Helper()
	wait := evidence.Begun(claim, duration)
	e.sayWait(wait, "holding", "%s, for %v", claim, duration)
	r, err := poll.Holds(e.ctx, poll.Options{Budget: duration}, e.observed(probe))
	if err != nil {
		e.failed(claim, err)
	}
	e.judged = e.injected
	e.sayWait(wait.After(r.Took), "holds", "%s: %d probes in %v", claim, r.Probes, r.Took.Round(time.Millisecond))
}

// Recovers waits until the probe succeeds. Its clock starts at the latest
// heal, or at the injection of a fault that needs none, and the time it took
// is reported against the budget. If it fails, the witness tells whether
// client or broker is to blame.
func (e *Env) Recovers(claim string, budget time.Duration, probe Probe) {
	e.t.Helper()
	if e.since.IsZero() {
		e.environment("%s: no fault was injected and healed, so there is nothing to recover from", claim)
	}
	budget = e.budget(claim, budget)
	left := budget - time.Since(e.since)
	if left <= 0 {
		e.environment("%s: the scenario spent the budget of %v before it asked", claim, budget)
	}
	wait := evidence.Begun(claim, budget)
	e.sayWait(wait, "recovers", "%s, budget %v from the healing %v ago", claim, budget, time.Since(e.since).Round(time.Millisecond))
	recovered := e.spend(recovering)
	r, err := poll.Until(e.ctx, poll.Options{Budget: left}, e.observed(probe))
	recovered()
	took := time.Since(e.since)
	if err != nil {
		e.result.budget = budget
		var late *poll.NotWithin
		if errors.As(err, &late) {
			late.Budget = budget // it counts from the healing, not from this call
		}
		e.failed(claim, err)
	}
	e.judged = e.injected
	e.sayWait(wait.After(took), "recovered", "%s: %v of %v (%d probes)", claim, took.Round(time.Millisecond), budget, r.Probes)
	// Of several recoveries, the one nearest to its budget is reported.
	if e.result.budget == 0 || float64(took)/float64(budget) > float64(e.result.took)/float64(e.result.budget) {
		e.result.took, e.result.budget = took, budget
	}
}

// failed ends the test after a wait that did not come true.
func (e *Env) failed(claim string, err error) {
	e.t.Helper()
	e.preserve() // the witness takes its time
	var died *brokerDied
	if errors.As(err, &died) || errors.As(context.Cause(e.ctx), &died) {
		e.environment("%s: %v", claim, err)
	}
	var late *outOfTime
	if errors.As(context.Cause(e.ctx), &late) {
		e.environment("%s: %v", claim, err)
	}
	var unwritten toDo
	if errors.As(err, &unwritten) {
		e.environment("%s: %v", claim, err)
	}
	reason := fmt.Sprintf("%s: %v", claim, err)
	if e.injected == 0 {
		e.environment("%s; no fault had been injected yet", reason)
	}
	at := evidence.Unknown
	if e.underFault() {
		reason += "; a fault still lies on the broker, so no witness was asked"
	} else if e.witness != nil {
		var said string
		at, said = e.ask()
		if errors.As(context.Cause(e.ctx), &died) || errors.As(context.Cause(e.ctx), &late) {
			e.environment("%s: %v", claim, context.Cause(e.ctx))
		}
		reason += "; " + said
	}
	counts := e.logCounts()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		reason += fmt.Sprintf("; %s: %d", name, counts[name])
	}
	e.broken(result{atFault: at, reason: reason, budget: e.result.budget})
}

func (e *Env) underFault() bool {
	for _, f := range e.faults {
		if !f.healed {
			return true
		}
	}
	return false
}

// ToDo is a probe that is still to be written: it fails at once and says so. The
// skeleton of a new case has one for each phase.
func ToDo(phase string) Probe {
	return func(context.Context) error { return Stop(toDo(phase)) }
}

// toDo says that the test is not written to its end, so it is nobody's fault.
type toDo string

func (t toDo) Error() string { return "to do: " + string(t) }
