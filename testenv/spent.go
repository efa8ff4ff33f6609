package testenv

import (
	"fmt"
	"time"
)

// phase is a part of a test's time. What is none of them is the scenario: the
// fault and its observation.
type phase string

const (
	// preparing is downloads, images and class archives.
	preparing phase = "prepare"
	// queueing is waiting until other brokers have started.
	queueing   phase = "queue"
	starting   phase = "start"
	recovering phase = "recovery"
	cleaning   phase = "cleanup"
	remaining  phase = "scenario"
)

// phases in the order in which a test goes through them.
var phases = []phase{preparing, queueing, starting, remaining, recovering, cleaning}

// spend counts the time until the returned function is called to a phase.
func (e *Env) spend(p phase) (done func()) {
	began := time.Now()
	return func() { e.spent[p] += time.Since(began) }
}

// tellSpent reports where the test's time went.
func (e *Env) tellSpent() {
	e.t.Helper()
	rest := time.Since(e.began)
	for _, d := range e.spent {
		rest -= d
	}
	e.spent[remaining] = max(0, rest)
	for _, p := range phases {
		e.t.Attr("spent_ms."+string(p), fmt.Sprint(e.spent[p].Milliseconds()))
	}
}
