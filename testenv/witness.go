package testenv

import (
	"errors"
	"fmt"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

type witness struct {
	claim string
	probe Probe
}

// witnessBudget is ample for a client that has just been made.
const witnessBudget = 15 * time.Second

// Witness registers what a fresh client on the same broker does when the
// client under test has not recovered: "a fresh producer sends". If it
// succeeds, the client under test is at fault, else the broker is.
func (e *Env) Witness(claim string, fresh Probe) { e.witness = &witness{claim, fresh} }

func (e *Env) ask() (evidence.Fault, string) {
	e.t.Helper()
	wait := evidence.Begun(e.witness.claim, e.scaled(witnessBudget))
	e.sayWait(wait, "witness", "%s?", e.witness.claim)
	r, err := poll.Until(e.ctx, poll.Options{Budget: e.scaled(witnessBudget), Every: time.Second}, poll.Probe(e.witness.probe))
	var panicked *poll.Panicked
	if r.Hung || errors.As(err, &panicked) || errors.Is(err, poll.ErrGoexit) {
		return evidence.Unknown, fmt.Sprintf("the witness is no use, for it did not come to an answer (%v)", err)
	}
	if err != nil {
		return evidence.Broker, fmt.Sprintf("not so that %s (%v): the broker is at fault", e.witness.claim, err)
	}
	e.sayWait(wait.After(r.Took), "witness", "%s after %v", e.witness.claim, r.Took.Round(time.Millisecond))
	return evidence.Client, e.witness.claim + ": the client is at fault"
}

// Counts registers texts to be counted in a log of a client when the test
// ends or fails: evidence name to text.
func (e *Env) Counts(log string, texts map[string]string) {
	e.counted = append(e.counted, counted{log, texts})
}

type counted struct {
	log   string
	texts map[string]string
}

func (e *Env) logCounts() map[string]int {
	all := map[string]int{}
	for _, c := range e.counted {
		for name, text := range c.texts {
			all[name] = e.Log(c.log).Count(text)
		}
	}
	return all
}
