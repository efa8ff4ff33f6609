package testenv

import (
	"context"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

// Fault is something bad that can be done to a broker and undone.
type Fault struct {
	// Name says what is wrong while it lasts: "the backlog quota is exceeded".
	Name string
	// Apply brings it about.
	Apply func(ctx context.Context) error
	// Bites is the proof: it succeeds once the fault has taken effect. It must
	// be able to fail; a fault without proof is refused.
	Bites Probe
	// BitesWithin bounds Apply and, anew, Bites; zero is 30 s.
	BitesWithin time.Duration
	// Heal undoes it; nil means that the fault needs no undoing. It is tried
	// until it succeeds, within two minutes: a broker that has just come back may
	// refuse an administrative call at first.
	Heal func(ctx context.Context) error

	// harms says that a broker is no longer what its spec says, even when it is healed.
	harms bool
	// forTheTest says that nothing outlives the test that would want healing:
	// the clean-up does not start a killed broker only to stop it.
	forTheTest bool
}

// Then returns the fault with something to be started once it was applied, and before
// the proof: the client's call that a fault of the wire is to hit. It must not wait
// for what the fault keeps back.
func (f Fault) Then(start func(ctx context.Context) error) Fault {
	apply := f.Apply
	if apply == nil {
		return f
	}
	f.Apply = func(ctx context.Context) error {
		if err := apply(ctx); err != nil {
			return err
		}
		return start(ctx)
	}
	return f
}

// Injected is a fault that lies on a broker.
type Injected struct {
	env    *Env
	fault  Fault
	healed bool
}

// healLimit has room for a broker's start.
const healLimit = readyLimit + 30*time.Second

// Inject brings a fault about and returns once it is proven to bite. A fault
// that does not bite fails the test: it would prove nothing.
func (e *Env) Inject(f Fault) *Injected {
	e.t.Helper()
	if f.Apply == nil || f.Bites == nil {
		e.environment("inject %q: a fault needs Apply and a proof, Bites", f.Name)
	}
	within := e.scaled(f.BitesWithin)
	if within == 0 {
		within = e.scaled(30 * time.Second)
	}
	wait, began := evidence.Begun(f.Name, within), time.Now()
	e.sayWait(wait, "fault", "%s: injecting", f.Name)
	e.markLogs()
	i := &Injected{env: e, fault: f, healed: f.Heal == nil}
	// It may lie half on the broker after an error, so it is healed in any case.
	e.faults = append(e.faults, i)
	e.harmed = e.harmed || f.harms
	if _, err := poll.Until(e.ctx, poll.Options{Budget: within}, AtOnce(f.Apply)); err != nil {
		e.environment("inject %q: %v", f.Name, err)
	}
	if _, err := poll.Until(e.ctx, poll.Options{Budget: within}, poll.Probe(f.Bites)); err != nil {
		e.environment("the fault %q did not bite, so it proves nothing: %v", f.Name, err)
	}
	e.sayWait(wait.After(time.Since(began)), "fault", "%s: it bites", f.Name)
	e.injected++
	if i.healed {
		e.since = time.Now()
	}
	return i
}

// markLogs notes where the brokers' logs are at the first fault.
func (e *Env) markLogs() {
	if e.logsAtFault != nil {
		return
	}
	e.logsAtFault = map[string]int64{}
	for _, b := range e.brokers {
		for _, n := range b.nodes {
			e.logsAtFault[n.LogFile()] = size(n.LogFile())
		}
	}
}

// Heal undoes the fault; a second call does nothing. The clock of Recovers
// starts when it returns.
func (i *Injected) Heal() {
	e := i.env
	e.t.Helper()
	if i.healed {
		return
	}
	wait, began := evidence.Begun(i.fault.Name, e.scaled(healLimit)), time.Now()
	e.sayWait(wait, "heal", "%s: healing", i.fault.Name)
	if _, err := poll.Until(e.ctx, poll.Options{Budget: e.scaled(healLimit), Every: 200 * time.Millisecond}, i.fault.Heal); err != nil {
		e.environment("heal %q: %v", i.fault.Name, err)
	}
	i.healed = true
	e.since = time.Now()
	e.sayWait(wait.After(e.since.Sub(began)), "heal", "%s: healed", i.fault.Name)
}
