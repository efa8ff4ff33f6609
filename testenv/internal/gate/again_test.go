package gate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

func collected(lines ...string) *Report {
	var c Collector
	for _, line := range lines {
		_, _ = c.Write([]byte(line + "\n"))
	}
	return c.Report(false)
}

func TestEachRunOfARepeatedTestIsACell(t *testing.T) {
	run := func(verdict, result string) []string {
		return []string{
			`{"Action":"run","Package":"p","Test":"T"}`,
			`{"Action":"attr","Package":"p","Test":"T","Key":"case","Value":"p/t"}`,
			`{"Action":"attr","Package":"p","Test":"T","Key":"verdict","Value":"` + verdict + `"}`,
			`{"Action":"` + result + `","Package":"p","Test":"T"}`,
		}
	}
	r := collected(append(append(run("not recovered", "fail"), run("recovered", "pass")...), `{"Action":"fail","Package":"p"}`)...)
	require.Len(t, r.Cells, 2)
	require.Equal(t, evidence.NotRecovered, r.Cells[0].Verdict)
	require.Equal(t, evidence.Recovered, r.Cells[1].Verdict)
	require.Empty(t, r.Failures, "the package failed for the first")
}

func TestFailedAssertionIsToldInItsOwnWords(t *testing.T) {
	r := collected(
		`{"Action":"run","Package":"p","Test":"T"}`,
		`{"Action":"attr","Package":"p","Test":"T","Key":"case","Value":"p/t"}`,
		`{"Action":"output","Package":"p","Test":"T","Output":"    x_test.go:23:     0.000s  case     p/t: a claim\n"}`,
		`{"Action":"output","Package":"p","Test":"T","Output":"    x_test.go:24: \n"}`,
		`{"Action":"output","Package":"p","Test":"T","Output":"        \tError:      \tNot equal: 5 and 4\n"}`,
		`{"Action":"output","Package":"p","Test":"T","Output":"    x_test.go:23: replay: go test -run T\n"}`,
		`{"Action":"attr","Package":"p","Test":"T","Key":"replay","Value":"go test -run T"}`,
		`{"Action":"attr","Package":"p","Test":"T","Key":"reason","Value":"an assertion of the test failed"}`,
		`{"Action":"attr","Package":"p","Test":"T","Key":"verdict","Value":"not recovered"}`,
		`{"Action":"output","Package":"p","Test":"T","Output":"--- FAIL: T (1.00s)\n"}`,
		`{"Action":"fail","Package":"p","Test":"T"}`,
	)
	require.Equal(t, "x_test.go:24: \n        \tError:      \tNot equal: 5 and 4", r.Cells[0].Output)
	require.Equal(t, "go test -run T", r.Cells[0].Replay)
}
