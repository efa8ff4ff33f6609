package junitxml

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// Write writes the report.
func Write(w io.Writer, r *gate.Report) error { return write(w, suites(r)) }

func write(w io.Writer, all *junit.Testsuites) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	if err := all.WriteXML(w); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	return nil
}

// together are these suites, of which empty ones are left out. Total is their time, in ms.
func together(total int64, suites ...junit.Testsuite) *junit.Testsuites {
	all := &junit.Testsuites{Name: "faultgate", Time: seconds(total)}
	for _, s := range suites {
		if len(s.Testcases) > 0 {
			s.ID = len(all.Suites)
			all.AddSuite(s)
		}
	}
	return all
}

func suites(r *gate.Report) *junit.Testsuites {
	var names []string
	cells := map[string][]gate.Cell{}
	for _, c := range r.Cells {
		name := suiteName(c)
		if cells[name] == nil {
			names = append(names, name)
		}
		cells[name] = append(cells[name], c)
	}
	var total int64
	var all []junit.Testsuite
	for _, name := range names {
		all = append(all, suite(name, cells[name]))
		for _, c := range cells[name] {
			total += c.ElapsedMS
		}
	}
	others := beside(r.Failures, r.Environment)
	if r.Interrupted {
		t := other(gate.Failure{})
		t.Error = &junit.Result{Message: "the run was interrupted, so this is not all"}
		others.AddTestcase(t)
	}
	return together(total, append(all, others)...)
}

// suiteName tells package, client, broker and runtime, and what was asked for.
func suiteName(c gate.Cell) string {
	var b strings.Builder
	b.WriteString(path.Base(c.Package))
	for _, part := range []struct{ before, text, after string }{
		{": ", strings.TrimSpace(c.ClientName() + " " + c.ClientVersion), ""},
		{" on ", strings.TrimSpace(c.Broker + " " + c.BrokerVersion), ""},
		{" (", c.Runtime, ")"},
		{" [", c.With, "]"},
	} {
		if part.text != "" {
			b.WriteString(part.before + part.text + part.after)
		}
	}
	return b.String()
}

func suite(name string, cells []gate.Cell) junit.Testsuite {
	s := junit.Testsuite{Name: name, Package: cells[0].Package}
	for _, p := range []struct{ name, value string }{
		{"client", cells[0].Client}, {"client_version", cells[0].ClientVersion},
		{"broker", cells[0].Broker}, {"broker_version", cells[0].BrokerVersion},
		{"runtime", cells[0].Runtime}, {"with", cells[0].With},
	} {
		if p.value != "" {
			s.AddProperty(p.name, p.value)
		}
	}
	tests := map[string]int{}
	var total int64
	for _, c := range cells {
		tests[c.Case]++
		total += c.ElapsedMS
	}
	for _, c := range cells {
		t := testcase(c)
		if tests[c.Case] > 1 {
			t.Name += " (" + c.Test + ")"
		}
		s.AddTestcase(t)
	}
	s.Time = seconds(total)
	return s
}

func testcase(c gate.Cell) junit.Testcase {
	t := junit.Testcase{Name: c.Case, Classname: c.Package, Time: seconds(c.ElapsedMS), SystemOut: &junit.Output{Data: legal(told(c))}}
	result := &junit.Result{Message: c.Words(), Type: string(c.Verdict), Data: legal(c.Reason)}
	if c.Reason != "" {
		result.Message += ": " + c.Reason
	}
	switch c.Outcome() {
	case gate.Failed:
		t.Failure = result
	case gate.Untold:
		t.Error = result
	case gate.FailsAsListed, gate.LeftOut:
		t.Skipped = result
	case gate.Held:
	}
	return t
}

// told is what a cell tells beside its verdict.
func told(c gate.Cell) string {
	var b strings.Builder
	fmt.Fprintf(&b, "test: %s\n", c.Test)
	b.WriteString(verdictOf(c))
	for _, name := range slices.Sorted(maps.Keys(c.Evidence)) {
		fmt.Fprintf(&b, "evidence %s: %d\n", name, c.Evidence[name])
	}
	for _, line := range []struct{ name, value string }{
		{"known-bad", c.KnownBad}, {"issue", c.Issue}, {"artifacts", c.Artifacts},
	} {
		if line.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", line.name, line.value)
		}
	}
	return b.String()
}

// verdictOf is the verdict, and the time of the recovery where there is one.
func verdictOf(c gate.Cell) string {
	var b strings.Builder
	fmt.Fprintf(&b, "verdict: %s\n", c.Words())
	if c.RecoveryMS != nil {
		fmt.Fprintf(&b, "recovery_ms: %d\n", *c.RecoveryMS)
	}
	if c.BudgetMS != nil {
		fmt.Fprintf(&b, "budget_ms: %d\n", *c.BudgetMS)
	}
	return b.String()
}

// beside is the suite of what is no case: failed tests, and what kept verdicts from being reached.
func beside(failures, environment []gate.Failure) junit.Testsuite {
	s := junit.Testsuite{Name: "beside the cases", Time: seconds(0)}
	for _, f := range failures {
		t := other(f)
		t.Failure = &junit.Result{Message: "the test failed", Data: legal(f.Output)}
		s.AddTestcase(t)
	}
	for _, f := range environment {
		t := other(f)
		t.Error = &junit.Result{Message: "environment", Data: legal(f.Output)}
		s.AddTestcase(t)
	}
	return s
}

func other(f gate.Failure) junit.Testcase {
	return junit.Testcase{Name: cmp.Or(f.Test, f.Package, "faultgate"), Classname: cmp.Or(f.Package, "faultgate"), Time: seconds(0)}
}

func seconds(ms int64) string {
	return fmt.Sprintf("%.3f", (time.Duration(ms) * time.Millisecond).Seconds())
}

// legal replaces what XML has no way to write, as a terminal's colors are. CDATA
// sections are not escaped, so that the encoder does not.
func legal(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 {
			return r
		}
		return '\ufffd'
	}, s)
}
