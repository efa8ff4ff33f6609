package junitxml

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

func TestWhatRegressedIsAFailureAndWhatWasNotToldAnError(t *testing.T) {
	base, head := gate.NewReport(), gate.NewReport()
	for _, of := range []struct {
		name      string
		was, is   evidence.Verdict
		onOneSide bool
	}{
		{"a-regressed", evidence.Recovered, evidence.NotRecovered, false},
		{"b-untold", evidence.Recovered, evidence.Environment, false},
		{"c-one-side", evidence.Recovered, "", true},
		{"d-fixed", evidence.NotRecovered, evidence.Recovered, false},
		{"e-dead-before", evidence.NotRecovered, evidence.NotRecovered, false},
		{"f-held", evidence.Recovered, evidence.Recovered, false},
	} {
		base.Cells = append(base.Cells, cell(of.name, of.was, "", "as base was"))
		if !of.onOneSide {
			head.Cells = append(head.Cells, cell(of.name, of.is, "", "as head is"))
		}
	}
	head.Environment = []gate.Failure{{Package: "q", Output: "undefined: x"}}
	c := gate.Compare("old", "new", base, head)
	d := readBack(t, func(w io.Writer) error { return WriteComparison(w, c) })
	require.Equal(t, []int{7, 1, 3, 1}, []int{d.Tests, d.Failures, d.Errors, d.Skipped})
	require.Equal(t, "new against old", d.Suites[0].Name)
	require.Equal(t, "16.500", d.Suites[0].Time)
	at := map[string]int{}
	for i, c := range d.Suites[0].Cases {
		at[c.Name] = i
		require.Equal(t, "example.com/pulsarcases", c.Classname)
	}
	cases := d.Suites[0].Cases
	require.Equal(t, "regressed: as head is", cases[at["a-regressed"]].Failure.Message)
	require.Contains(t, cases[at["a-regressed"]].SystemOut, "change: regressed\nbase verdict: recovered\nhead verdict: not recovered\n")
	require.Equal(t, "3.000", cases[at["a-regressed"]].Time)
	require.Equal(t, "environment: as head is", cases[at["b-untold"]].Error.Message)
	require.Equal(t, "environment: it ran on one side only", cases[at["c-one-side"]].Error.Message)
	require.Equal(t, "unchanged: as head is", cases[at["e-dead-before"]].Skipped.Message)
	require.Equal(t, "undefined: x", d.Suites[1].Cases[0].Error.Text)
}

func TestComparisonOfNothingHasNoTestCase(t *testing.T) {
	d := readBack(t, func(w io.Writer) error { return WriteComparison(w, &gate.Comparison{}) })
	require.Empty(t, d.Suites)
}

func TestCombinationThatIsNotAsListedIsAFailure(t *testing.T) {
	all := gate.Controls{
		{Case: "x/one", At: gate.Combination{Client: "v0.18.0", Broker: "3.0.2"}, Bad: true, Outcome: gate.AsListed},
		{Case: "x/one", At: gate.Combination{Client: "v0.21.0"}, Outcome: gate.NotAsListed, Reason: "listed as holding, but: dead"},
		{Case: "x/two", Outcome: gate.NotTold, Reason: "no engine answers"},
	}
	d := readBack(t, func(w io.Writer) error { return WriteControls(w, all) })
	require.Equal(t, []int{3, 1, 1, 0}, []int{d.Tests, d.Failures, d.Errors, d.Skipped})
	cases := d.Suites[0].Cases
	require.Equal(t, "client v0.18.0 on broker 3.0.2 is listed as failing", cases[0].Name)
	require.Equal(t, "x/one", cases[0].Classname)
	require.Equal(t, "0.000", cases[0].Time)
	require.Nil(t, cases[0].Failure)
	require.Equal(t, "client v0.21.0 is listed as holding", cases[1].Name)
	require.Equal(t, "not as listed: listed as holding, but: dead", cases[1].Failure.Message)
	require.Equal(t, "no engine answers", cases[2].Error.Text)
}
