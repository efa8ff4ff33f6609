package junitxml

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// WriteComparison writes what changed: a test case for each test that was compared.
func WriteComparison(w io.Writer, c *gate.Comparison) error {
	s := junit.Testsuite{Name: fmt.Sprintf("%s against %s", c.Head, c.Base)}
	tests := map[string]int{}
	var total int64
	for _, ch := range c.Changes {
		tests[ch.Case]++
		total += elapsed(ch)
	}
	for _, ch := range c.Changes {
		t := change(ch)
		if tests[ch.Case] > 1 {
			t.Name += " (" + ch.Test + ")"
		}
		s.AddTestcase(t)
	}
	s.Time = seconds(total)
	return write(w, together(total, s, beside(nil, c.Other)))
}

func change(ch gate.Change) junit.Testcase {
	t := junit.Testcase{Name: ch.Case, Time: seconds(elapsed(ch))}
	var told strings.Builder
	fmt.Fprintf(&told, "test: %s\nchange: %s\n", ch.Test, ch.Kind)
	for _, side := range []struct {
		name string
		cell *gate.Cell
	}{{"base", ch.Base}, {"head", ch.Head}} {
		if side.cell != nil {
			t.Classname = side.cell.Package
			told.WriteString(side.name + " " + verdictOf(*side.cell))
		}
	}
	t.SystemOut = &junit.Output{Data: legal(told.String())}
	result := &junit.Result{Message: fmt.Sprintf("%s: %s", ch.Kind, ch.Reason()), Type: string(ch.Kind), Data: legal(ch.Reason())}
	switch {
	case ch.Kind == gate.Regressed:
		t.Failure = result
	case ch.Kind == gate.Environment:
		t.Error = result
	case ch.Head.Verdict == evidence.NotRecovered: // as it is with base: it did not pass, and blocks nothing
		t.Skipped = result
	}
	return t
}

// elapsed is how long both runs of it took.
func elapsed(ch gate.Change) int64 {
	var ms int64
	for _, c := range []*gate.Cell{ch.Base, ch.Head} {
		if c != nil {
			ms += c.ElapsedMS
		}
	}
	return ms
}
