package gate

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

// collect reads recorded streams; those under testdata are of real go test -json runs.
func collect(t *testing.T, names ...string) *Collector {
	t.Helper()
	var c Collector
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
		require.NoError(t, err)
		// In pieces that end within lines, as a pipe delivers them.
		for len(b) > 0 {
			n := min(100, len(b))
			_, err := c.Write(b[:n])
			require.NoError(t, err)
			b = b[n:]
		}
	}
	return &c
}

func TestExitCodeTellsProductFromEnvironmentFromNothing(t *testing.T) {
	for _, tt := range []struct {
		streams     []string
		interrupted bool
		want        int
	}{
		{streams: []string{"good"}, want: ExitOK},
		{streams: []string{"bad"}, want: ExitFailed},
		{streams: []string{"good", "bad"}, want: ExitFailed},
		{streams: []string{"broken"}, want: ExitEnvironment},
		{streams: []string{"nosuch"}, want: ExitEnvironment},
		{streams: []string{"good", "broken"}, want: ExitEnvironment},
		{streams: []string{"broken", "bad"}, want: ExitFailed},
		{streams: []string{"timeout"}, want: ExitEnvironment},
		{streams: []string{"interrupted"}, interrupted: true, want: ExitEnvironment},
		{streams: []string{"good"}, interrupted: true, want: ExitEnvironment},
		{streams: []string{"panics"}, want: ExitFailed},
		{streams: []string{"testmain"}, want: ExitFailed},
		{want: ExitNothingRan},
	} {
		t.Run(strings.Join(tt.streams, "+"), func(t *testing.T) {
			assert.Equal(t, tt.want, collect(t, tt.streams...).Report(tt.interrupted).ExitCode())
		})
	}
}

func TestCellCarriesWhatTheTestRecorded(t *testing.T) {
	r := collect(t, "good").Report(false)
	require.Len(t, r.Cells, 3, "the test without a case is no cell")
	c := r.Cells[2]
	assert.Equal(t, Cell{
		Case: "pulsarquota/self-heal", Issue: "https://github.com/apache/pulsar-client-go/pull/1457",
		Package: "example.com/cases/good", Test: "TestSameProducerSendsAgain",
		Client: "github.com/apache/pulsar-client-go", ClientVersion: "v0.21.0",
		Broker: "pulsar", BrokerVersion: "3.0.2", Runtime: "process",
		Verdict: evidence.Recovered, RecoveryMS: new(int64(2140)), BudgetMS: new(int64(30000)),
		Evidence:  map[string]int64{"stop_reconnecting": 0, "reconnecting_to_broker": 3},
		SpentMS:   map[string]int64{},
		Artifacts: "/tmp/out/_artifacts/706905558", Result: passed,
	}, c)
	assert.Equal(t, evidence.NotRun, r.Cells[0].Verdict)
	assert.Empty(t, r.Failures)
}

func TestFailedTestWithoutCaseIsListedBesideTheCells(t *testing.T) {
	r := collect(t, "bad").Report(false)
	require.Len(t, r.Cells, 1)
	assert.Equal(t, evidence.NotRecovered, r.Cells[0].Verdict)
	assert.Equal(t, evidence.Client, r.Cells[0].AtFault)
	assert.Equal(t, "not recovered in 63 s, stop reconnecting 1", r.Cells[0].KnownBad)
	require.Len(t, r.Failures, 1)
	assert.Equal(t, "TestPlainFailure", r.Failures[0].Test)
	assert.Contains(t, r.Failures[0].Output, "want 1, got 2")
}

func TestPackageThatDoesNotBuildIsEnvironmentWithTheCompilersWords(t *testing.T) {
	r := collect(t, "broken").Report(false)
	require.Len(t, r.Environment, 1)
	assert.Contains(t, r.Environment[0].Output, "undefined: undefined1")
	assert.Empty(t, r.Failures)
}

func TestCutOffRunIsEnvironmentAndPanicIsAFinding(t *testing.T) {
	for name, want := range map[string]evidence.Verdict{
		"timeout": evidence.Environment, "interrupted": evidence.Environment, "panics": evidence.NotRecovered,
	} {
		r := collect(t, name).Report(name == "interrupted")
		require.Len(t, r.Cells, 1, name)
		assert.Equal(t, want, r.Cells[0].Verdict, name)
		assert.NotEmpty(t, r.Cells[0].Reason, name)
		assert.Empty(t, r.Failures, name)
	}
}

// stream makes events of one test, where a recorded stream would say no more.
func stream(result string, attrs ...string) *Collector {
	var c Collector
	e := json.NewEncoder(&c)
	for i := 0; i < len(attrs); i += 2 {
		_ = e.Encode(event{Action: "attr", Package: "p", Test: "T", Key: attrs[i], Value: attrs[i+1]})
	}
	_ = e.Encode(event{Action: result, Package: "p", Test: "T"})
	return &c
}

func TestExitCodeOfOneCase(t *testing.T) {
	for _, tt := range []struct {
		verdict evidence.Verdict
		result  string
		want    int
	}{
		{evidence.Recovered, passed, ExitOK},
		{evidence.Recovered, failed, ExitFailed},
		{evidence.NotRecovered, failed, ExitFailed},
		{evidence.NotRecovered, skipped, ExitOK},
		{evidence.Environment, failed, ExitEnvironment},
		{evidence.NotRun, skipped, ExitNothingRan},
		{evidence.NotRun, failed, ExitNothingRan},
		{"", skipped, ExitNothingRan},
		{"", failed, ExitFailed},
		{"", passed, ExitEnvironment},
		{"nonsense", passed, ExitEnvironment},
	} {
		r := stream(tt.result, "case", "x/y", "verdict", string(tt.verdict)).Report(false)
		assert.Equal(t, tt.want, r.ExitCode(), "%q, test %s", tt.verdict, tt.result)
	}
}

func TestUnreadableNumberIsTold(t *testing.T) {
	r := stream(passed, "case", "x/y", "verdict", "recovered", "recovery_ms", "soon").Report(false)
	require.Len(t, r.Environment, 1)
	assert.Contains(t, r.Environment[0].Output, `recovery_ms is "soon"`)
}

func TestTableShowsVersionsVerdictAndTimes(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, collect(t, "good", "bad", "broken").Report(false).Print(&b))
	for _, want := range []string{
		"recovery of budget", "pulsar-client-go v0.18.0", "pulsar 3.0.2", "2.14s of 30s", "not recovered (client)", "- of 30s",
		"listed as known-bad: not recovered in 63 s", "undefined: undefined1", "1 recovered, 1 not recovered, 2 not run; 1 other failures",
	} {
		assert.Contains(t, b.String(), want)
	}
}

func TestProgressHasALineForEachFinishedTest(t *testing.T) {
	var lines []string
	c := collect(t)
	c.Finished = func(p Progress) { lines = append(lines, p.String()) }
	b, err := os.ReadFile("testdata/bad.jsonl")
	require.NoError(t, err)
	_, _ = c.Write(b)
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], "pulsarquota/self-heal, pulsar-client-go v0.18.0, pulsar 3.0.2: not recovered (client) within 30s")
}
