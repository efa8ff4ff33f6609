package gate

import (
	"cmp"
	"slices"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

// Kind is how a case's outcome changed from one set of versions to another.
type Kind string

// The kinds of changes.
const (
	Regressed   Kind = "regressed"
	Fixed       Kind = "fixed"
	Slower      Kind = "slower"
	Unchanged   Kind = "unchanged"
	Environment Kind = "environment"
)

// A recovery is slower if it takes twice as long and this much longer, in ms.
const slowerBy = 1000

// Change is one test of a case under both sets.
type Change struct {
	Kind Kind   `json:"kind"`
	Case string `json:"case"`
	Test string `json:"test"`
	// Base and Head are nil where the test told nothing.
	Base *Cell `json:"base"`
	Head *Cell `json:"head"`
}

// Comparison is what a change of versions does to the cases.
type Comparison struct {
	Base    string   `json:"base"`
	Head    string   `json:"head"`
	Changes []Change `json:"changes"`
	// Other is what failed under head beside the cases, and kept verdicts from being reached.
	Other []Failure `json:"other"`
}

// Compare judges head against base. What the two are is said in words.
func Compare(base, head string, b, h *Report) *Comparison {
	c := &Comparison{Base: base, Head: head, Changes: []Change{}, Other: []Failure{}}
	at := map[key]*Change{}
	var order []*Change
	put := func(cells []Cell, set func(*Change, *Cell)) {
		for _, cell := range cells {
			k := key{cell.Package, cell.Test}
			if at[k] == nil {
				at[k] = &Change{Case: cell.Case, Test: cell.Test}
				order = append(order, at[k])
			}
			set(at[k], &cell)
		}
	}
	put(b.Cells, func(ch *Change, cell *Cell) { ch.Base = worst(ch.Base, cell) })
	put(h.Cells, func(ch *Change, cell *Cell) { ch.Head = worst(ch.Head, cell) })
	for _, ch := range order {
		ch.Kind = kindOf(ch.Base, ch.Head)
		c.Changes = append(c.Changes, *ch)
	}
	rank := []Kind{Regressed, Environment, Slower, Fixed, Unchanged}
	slices.SortStableFunc(c.Changes, func(x, y Change) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, x.Kind), slices.Index(rank, y.Kind)), cmp.Compare(x.Case, y.Case))
	})
	c.Other = append(append(append(c.Other, h.Environment...), b.Environment...), h.Failures...)
	return c
}

func kindOf(base, head *Cell) Kind {
	if !reached(base) || !reached(head) {
		return Environment
	}
	was, is := base.Verdict == evidence.Recovered, head.Verdict == evidence.Recovered
	switch {
	case was && !is:
		return Regressed
	case !was && is:
		return Fixed
	case is && base.RecoveryMS != nil && head.RecoveryMS != nil &&
		*head.RecoveryMS > 2**base.RecoveryMS && *head.RecoveryMS-*base.RecoveryMS > slowerBy:
		return Slower
	}
	return Unchanged
}

// worst is what counts of a test that was run several times.
func worst(a, b *Cell) *Cell {
	rank := func(c *Cell) int {
		return slices.Index([]evidence.Verdict{evidence.NotRecovered, evidence.Environment, evidence.NotRun, evidence.Recovered}, c.Verdict)
	}
	if a == nil || rank(b) < rank(a) {
		return b
	}
	return a
}

// reached says that a verdict on the product was reached.
func reached(c *Cell) bool {
	return c != nil && (c.Verdict == evidence.Recovered || c.Verdict == evidence.NotRecovered)
}

// Blocks says that something got worse.
func (c *Comparison) Blocks() bool {
	return slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.Kind == Regressed })
}

// ExitCode is 1 to block; 3 if nothing is worse as far as was told, but something was
// not told; 4 if there was nothing to compare; 0 to allow.
func (c *Comparison) ExitCode() int {
	switch {
	case c.Blocks():
		return ExitFailed
	case len(c.Other) > 0 || slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.Kind == Environment }):
		return ExitEnvironment
	case len(c.Changes) == 0:
		return ExitNothingRan
	}
	return ExitOK
}

// Decision is the word for the pull request.
func (c *Comparison) Decision() string {
	switch c.ExitCode() {
	case ExitFailed:
		return "block"
	case ExitOK:
		return "allow"
	}
	return "undecided"
}
