package gate

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

const (
	// evidencePrefix begins the attributes that carry counts.
	evidencePrefix = "evidence."
	// spentPrefix begins the attributes that say where the time went.
	spentPrefix = "spent_ms."
)

// Report is what the stream said so far. Interrupted says that the run was
// told to stop, so that what failed then proves nothing.
func (c *Collector) Report(interrupted bool) *Report {
	r := NewReport()
	r.Interrupted = interrupted
	r.BuildMS = c.built.Milliseconds()
	r.flagsRefused = c.flagsRefused()
	for _, t := range c.order {
		switch {
		case t.attrs["case"] != "":
			cell, bad := c.cell(t)
			r.Cells = append(r.Cells, cell)
			r.Environment = append(r.Environment, bad...)
		case t.name == "":
			c.packageEnd(r, t)
		case t.result == failed && !c.failedBelow(t.key):
			r.Failures = append(r.Failures, Failure{t.pkg, t.name, t.tail()})
		case t.result == "" && !c.unfinishedBelow(t.key):
			c.unfinished(r, t)
		}
	}
	if len(c.stray) > 0 && len(c.order) == 0 {
		r.Environment = append(r.Environment, Failure{Output: strings.Join(c.stray, "\n")})
	}
	slices.SortStableFunc(r.Cells, func(a, b Cell) int { return cmp.Compare(a.Case, b.Case) })
	return r
}

// unfinished is a test without a case that the end of its process overtook.
func (c *Collector) unfinished(r *Report, t *test) {
	f := Failure{t.pkg, t.name, t.tail()}
	if c.wasCutOff(t) {
		r.Environment = append(r.Environment, f)
		return
	}
	r.Failures = append(r.Failures, f)
}

// packageEnd judges a package's own failure: one that no test accounts for.
func (c *Collector) packageEnd(r *Report, p *test) {
	switch {
	case p.failedBuild != "":
		words := strings.Join(c.builds[p.failedBuild], "\n")
		r.Environment = append(r.Environment, Failure{Package: p.pkg, Output: cmp.Or(words, p.tail())})
	case p.result != failed:
	case slices.ContainsFunc(c.order, func(t *test) bool {
		return t.pkg == p.pkg && t != p && (t.result == failed || t.result == "")
	}):
	case strings.HasPrefix(p.died, "signal: ") || r.Interrupted:
		r.Environment = append(r.Environment, Failure{Package: p.pkg, Output: p.tail()})
	default:
		r.Failures = append(r.Failures, Failure{Package: p.pkg, Output: p.tail()})
	}
}

func (c *Collector) failedBelow(k key) bool {
	return c.below(k, func(t *test) bool { return t.result == failed })
}

func (c *Collector) unfinishedBelow(k key) bool {
	return c.below(k, func(t *test) bool { return t.result == "" })
}

func (c *Collector) below(k key, is func(*test) bool) bool {
	return slices.ContainsFunc(c.order, func(t *test) bool {
		return t.pkg == k.pkg && strings.HasPrefix(t.name, k.name+"/") && is(t)
	})
}

// diedOf is the line that tells why the test's process ended early. A panic
// is printed below one test of the package, which need not be the one that
// was running alone.
func (c *Collector) diedOf(t *test) string {
	if t.died != "" {
		return t.died
	}
	for _, other := range c.order {
		if other.pkg == t.pkg && other.died != "" {
			return other.died
		}
	}
	return ""
}

// wasCutOff says that the test was ended from outside. A process that died by
// its own panic was not: a client that panics is a finding.
func (c *Collector) wasCutOff(t *test) bool {
	died := c.diedOf(t)
	return died == "" || strings.HasPrefix(died, "signal: ") || strings.HasPrefix(died, "panic: test timed out")
}

// cell makes a cell of a test with a case, and says which attributes it could not read.
func (c *Collector) cell(t *test) (Cell, []Failure) {
	cell := Cell{
		Case: t.attrs["case"], Issue: t.attrs["issue"], Package: t.pkg, Test: t.name,
		Client: t.attrs["client"], ClientVersion: t.attrs["client_version"],
		Broker: t.attrs["broker"], BrokerVersion: t.attrs["broker_version"], Runtime: t.attrs["runtime"],
		Verdict: evidence.Verdict(t.attrs["verdict"]), AtFault: evidence.Fault(t.attrs["at_fault"]),
		KnownBad: t.attrs["known_bad"], Reason: t.attrs["reason"],
		Evidence: map[string]int64{}, SpentMS: map[string]int64{}, Artifacts: t.artifacts,
		ElapsedMS: int64(math.Round(t.elapsed * 1000)), Result: cmp.Or(t.result, cutOff),
		listing: listing{t.attrs["claim"], t.attrs["known_bad_at"], t.attrs["known_good_at"]},
	}
	if t.result == failed {
		cell.Replay = t.attrs["replay"]
		if cell.Reason == evidence.Asserted || cell.Reason == evidence.AssertedBeforeFault {
			cell.Output = assertion(t.output)
		}
	}
	var bad []Failure
	number := func(name, value string) *int64 {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			bad = append(bad, Failure{t.pkg, t.name, fmt.Sprintf("attribute %s is %q, which is no whole number", name, value)})
			return nil
		}
		return &n
	}
	if v := t.attrs["recovery_ms"]; v != "" {
		cell.RecoveryMS = number("recovery_ms", v)
	}
	if v := t.attrs["budget_ms"]; v != "" {
		cell.BudgetMS = number("budget_ms", v)
	}
	for k, v := range t.attrs {
		if name, is := strings.CutPrefix(k, evidencePrefix); is {
			if n := number(k, v); n != nil {
				cell.Evidence[name] = *n
			}
		}
		if name, is := strings.CutPrefix(k, spentPrefix); is {
			if n := number(k, v); n != nil {
				cell.SpentMS[name] = *n
			}
		}
	}
	switch cell.Verdict {
	case evidence.Recovered, evidence.NotRecovered, evidence.Environment, evidence.NotRun:
	case "":
		c.without(&cell, t)
	default:
		bad = append(bad, Failure{t.pkg, t.name, fmt.Sprintf("attribute verdict is %q, which is no verdict", cell.Verdict)})
		cell.Verdict = evidence.Environment
	}
	return cell, bad
}

// timelineLine is a line that the test environment has logged.
var timelineLine = regexp.MustCompile(`^\s+\S+\.go:\d+: +\d+\.\d+s  `)

// assertion is what of a test's output is its own words: neither the timeline nor what the
// test environment says at the end.
func assertion(output []string) string {
	var own []string
	for _, line := range output {
		said := strings.Contains(line, ".go:") && (strings.Contains(line, ": replay: ") || strings.Contains(line, ": evidence: ") || strings.Contains(line, "the evidence is kept with"))
		if timelineLine.MatchString(line) || said || strings.HasPrefix(strings.TrimSpace(line), "--- FAIL") {
			continue
		}
		own = append(own, line)
	}
	return strings.TrimSpace(strings.Join(own, "\n"))
}

// without gives a verdict to a case that recorded none.
func (c *Collector) without(cell *Cell, t *test) {
	switch {
	case t.result == skipped:
		cell.Verdict, cell.Reason = evidence.NotRun, "the test was skipped"
	case t.result == passed:
		cell.Verdict, cell.Reason = evidence.Environment, "the test passed without a verdict"
	case t.result == "" && c.wasCutOff(t):
		cell.Verdict, cell.Reason = evidence.Environment, "the run was cut off: "+cmp.Or(c.diedOf(t), "the stream ended")
	case t.result == failed && strings.HasPrefix(t.died, "panic: test timed out"):
		cell.Verdict, cell.Reason = evidence.Environment, "the run was cut off: "+t.died
	default:
		cell.Verdict, cell.AtFault = evidence.NotRecovered, evidence.Unknown
		cell.Reason = "the test failed without a verdict"
		if died := c.diedOf(t); died != "" {
			cell.Reason = "the test process died: " + died
		}
	}
}
