package gate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

func TestOnlyTheListedFailureIsAsListed(t *testing.T) {
	fails := func(reason, result string) Cell {
		return Cell{Case: "p/c", Verdict: evidence.NotRecovered, Reason: reason, Result: result}
	}
	for name, test := range map[string]struct {
		at   Combination
		cell Cell
		want string
	}{
		"the listed wait fails":                       {Combination{Fails: "it sends"}, fails("it sends: not within 5s", failed), AsListed},
		"another wait fails":                          {Combination{Fails: "it sends"}, fails("it receives: not within 5s", failed), NotAsListed},
		"any wait fails where none is named":          {Combination{}, fails("it sends: not within 5s", failed), AsListed},
		"an assertion fails":                          {Combination{}, fails(evidence.Asserted, failed), NotAsListed},
		"it panics":                                   {Combination{}, fails(evidence.Panicked+"x_test.go:7", failed), NotAsListed},
		"an open one is accepted":                     {Combination{Fails: "it sends", Open: "no release"}, fails("it sends: not within 5s", skipped), AsListed},
		"an open one fails elsewhere":                 {Combination{Fails: "it sends", Open: "no release"}, fails("it receives: not within 5s", failed), NotAsListed},
		"it holds":                                    {Combination{}, Cell{Case: "p/c", Verdict: evidence.Recovered}, NotAsListed},
		"the environment keeps it from being reached": {Combination{}, Cell{Case: "p/c", Verdict: evidence.Environment}, NotTold},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReport()
			r.Cells = append(r.Cells, test.cell)
			c := Control{Case: "p/c", At: test.at, Bad: true}
			c.Judge(r)
			require.Equal(t, test.want, c.Outcome, c.Reason)
		})
	}
}

// Of a test that is run several times the worst counts, whichever came last.
func TestOneFailureOfARepeatedTestIsARegression(t *testing.T) {
	report := func(verdicts ...evidence.Verdict) *Report {
		r := NewReport()
		for _, v := range verdicts {
			r.Cells = append(r.Cells, Cell{Case: "p/c", Package: "p", Test: "T", Verdict: v})
		}
		return r
	}
	good := report(evidence.Recovered, evidence.Recovered)
	for _, head := range []*Report{
		report(evidence.NotRecovered, evidence.Recovered), report(evidence.Recovered, evidence.NotRecovered),
		report(evidence.Environment, evidence.NotRecovered),
	} {
		require.Equal(t, ExitFailed, Compare("base", "head", good, head).ExitCode())
	}
	require.Equal(t, ExitEnvironment, Compare("base", "head", good, report(evidence.Recovered, evidence.Environment, evidence.Recovered)).ExitCode())
	require.Equal(t, ExitOK, Compare("base", "head", good, good).ExitCode())
}
