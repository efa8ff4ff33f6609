package testenv

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

const (
	// cleanupLimit bounds each part of the clean-up.
	cleanupLimit = 20 * time.Second
	closeLimit   = 10 * time.Second
)

// cleanup ends everything in order: heal, stop goroutines, close clients,
// gather evidence, stop brokers, report. It never uses the test's context,
// which has ended by now.
func (e *Env) cleanup() {
	e.t.Helper()
	defer e.tellSpent()
	defer e.spend(cleaning)()
	defer e.stopBrokers() // whatever the reporting comes to
	if e.alarm != nil {
		e.alarm.Stop()
	}
	if where, is := panicking(); is {
		e.t.Fail()
		e.decide(result{verdict: evidence.NotRecovered, atFault: evidence.Unknown, reason: evidence.Panicked + where})
	}
	if e.t.Failed() {
		e.preserve()
	}
	e.healAll()
	e.cancel(errors.New("the test has ended"))
	// What is left behind goes on talking to the brokers.
	ended := e.bounded("stop the scenario's goroutines", closeLimit, func(context.Context) error {
		e.work.Wait()
		return nil
	})
	e.harmed = e.harmed || !ended
	for _, c := range slices.Backward(e.closers) {
		closed := e.bounded("close "+c.name, closeLimit, c.close)
		e.harmed = e.harmed || !closed
	}
	e.conclude()
	e.gather()
}

func (e *Env) stopBrokers() {
	e.t.Helper()
	for _, b := range slices.Backward(e.brokers) {
		left, over := e.leave(b)
		if !left {
			over = []*Broker{b}
		}
		for _, b := range over {
			e.bounded("stop "+b.name, cleanupLimit, b.close)
		}
	}
}

func (e *Env) healAll() {
	for _, f := range slices.Backward(e.faults) {
		if f.healed {
			continue
		}
		f.healed = true
		if f.fault.forTheTest || !e.bounded("heal "+f.fault.Name, cleanupLimit, f.fault.Heal) {
			e.harmed = true
		}
	}
}

// bounded does one part of the clean-up, says whether it could, and goes on
// whatever comes of it.
func (e *Env) bounded(what string, limit time.Duration, act func(ctx context.Context) error) (done bool) {
	e.t.Helper()
	began := time.Now()
	_, err := poll.Until(context.Background(), poll.Options{Budget: e.affordable(limit)}, AtOnce(act))
	if err != nil {
		e.say("cleanup", "%s: %v", what, err)
		return false
	}
	e.timeline.Add("cleanup", "%s: done in %v", what, time.Since(began).Round(time.Millisecond))
	return true
}

// conclude reaches the verdict where none was reached on the way, and reports it.
func (e *Env) conclude() {
	e.t.Helper()
	switch {
	case e.result.verdict != "":
	case e.t.Failed() && e.injected == 0:
		e.result.verdict, e.result.reason = evidence.Environment, evidence.AssertedBeforeFault
	case e.t.Failed():
		e.result.verdict, e.result.reason = evidence.NotRecovered, evidence.Asserted
		e.result.atFault = evidence.Unknown
	case e.t.Skipped():
		e.result.verdict, e.result.reason = evidence.NotRun, "the test skipped itself"
	case e.injected == 0:
		e.result.verdict, e.result.reason = evidence.Environment, "the test injected no fault, so it proves nothing"
		e.t.Error(e.result.reason)
	case e.judged < e.injected:
		e.result.verdict, e.result.reason = evidence.Environment, "the test waited for nothing after its latest fault, so it proves nothing"
		e.t.Error(e.result.reason)
	default:
		e.result.verdict = evidence.Recovered
		if bad, is := e.knownBad(); is {
			e.t.Errorf("the claim holds, but this combination is listed as known-bad (%s): the entry or the check is wrong", bad.Evidence)
		}
	}
	e.report()
}

func (e *Env) report() {
	e.t.Helper()
	counts := e.logCounts()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		e.Evidence(name, counts[name])
	}
	e.t.Attr("verdict", string(e.result.verdict))
	if e.result.atFault != "" {
		e.t.Attr("at_fault", string(e.result.atFault))
	}
	if e.result.reason != "" {
		e.t.Attr("reason", oneLine(e.result.reason))
	}
	if e.result.budget > 0 {
		if e.result.verdict == evidence.Recovered {
			e.t.Attr("recovery_ms", strconv.FormatInt(e.result.took.Milliseconds(), 10))
		}
		e.t.Attr("budget_ms", strconv.FormatInt(e.result.budget.Milliseconds(), 10))
	}
	for name, n := range e.counts {
		e.t.Attr("evidence."+strings.ReplaceAll(name, " ", "_"), strconv.Itoa(n))
	}
	e.say("verdict", "%s", e.summary())
}

func (e *Env) summary() string {
	s := string(e.result.verdict)
	if e.result.verdict == evidence.Recovered && e.result.budget > 0 {
		s += fmt.Sprintf(" in %v of %v", e.result.took.Round(time.Millisecond), e.result.budget)
	}
	if e.result.atFault != "" {
		s += fmt.Sprintf(" (at fault: %s)", e.result.atFault)
	}
	return s
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
