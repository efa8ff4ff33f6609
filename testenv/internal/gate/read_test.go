package gate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

// write writes what run -json prints of the cells.
func write(t *testing.T, path string, cells ...Cell) string {
	t.Helper()
	r := NewReport()
	r.Cells = append(r.Cells, cells...)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

func on(broker string) Cell {
	return Cell{
		Case: "kafkatxn/one", Package: "example.com/kafkatxn", Test: "TestOne", BrokerVersion: broker,
		Runtime: "process", Verdict: evidence.Recovered, Result: passed, Evidence: map[string]int64{"sends": 3}, ElapsedMS: 1500,
	}
}

func TestReportIsReadAsItWasWritten(t *testing.T) {
	c := on("3.9.2")
	c.RecoveryMS, c.With = new(int64(7)), "kafka 3.9.2"
	r, err := Read(write(t, filepath.Join(t.TempDir(), "run.json"), c))
	require.NoError(t, err)
	require.Equal(t, []Cell{c}, r.Cells)
	require.Equal(t, ExitOK, r.ExitCode())
}

func TestWhatIsNoReportIsRefusedWithTheReason(t *testing.T) {
	comparison, err := json.Marshal(Comparison{})
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                            "it is empty",
		"case | client":               "invalid character 'c'",
		"[]":                          "cannot unmarshal array",
		"null":                        "it has no cells",
		string(comparison):            "it has no cells",
		`{"cells":[{"case":"a"}`:      "it ends in the middle",
		`{"cells":[{"case":"a"}]}`:    `cell 1, "a", has the verdict ""`,
		`{"cells":[]}{"cells":[]}`:    "there is more behind",
		`{"cells":[{"verdict":"x"}]}`: `has the verdict "x", which is none`,
	} {
		path := filepath.Join(t.TempDir(), "run.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Read(path)
		require.ErrorContains(t, err, path+" is no report of faultgate run -json: ")
		require.ErrorContains(t, err, want)
	}
	_, err = Read(filepath.Join(t.TempDir(), "none.json"))
	require.ErrorContains(t, err, "none.json: no such file")
}

func TestDirectoryOfReportsIsReadAsOne(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "1", "run.json"), on("3.9.2"))
	write(t, filepath.Join(dir, "2", "run.json"), on("4.4.0"))
	for _, other := range []string{"1/_artifacts/7/any.json", "2/timeline.json", "notes.txt"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, other)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, other), []byte("{}"), 0o600))
	}
	r, err := Read(dir)
	require.NoError(t, err)
	require.Len(t, r.Cells, 2)
	_, err = Read(t.TempDir())
	require.ErrorContains(t, err, "no report is in")
}

func TestArtifactsAreFoundWhereTheyWereDownloaded(t *testing.T) {
	dir, there := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "_artifacts", "7"), 0o755))
	here, away, gone := on("1"), on("2"), on("3")
	here.Artifacts, away.Artifacts, gone.Artifacts = there, "/home/ci/temp/evidence/_artifacts/7", "/home/ci/temp/evidence/_artifacts/8"
	r, err := Read(write(t, filepath.Join(dir, "run.json"), here, away, gone))
	require.NoError(t, err)
	assert.Equal(t, there, r.Cells[0].Artifacts)
	assert.Equal(t, filepath.Join(dir, "_artifacts", "7"), r.Cells[1].Artifacts)
	assert.Equal(t, gone.Artifacts, r.Cells[2].Artifacts, "the place is told as it was")
}

func TestArtifactsAreNotLookedForOutsideOfTheDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "..", "x"), 0o755))
	require.Equal(t, "a/../../x", moved("a/../../x", dir))
}

func TestMergedReportIsTheWhole(t *testing.T) {
	dir := t.TempDir()
	bad := on("4.4.0")
	bad.Case, bad.Test, bad.Verdict, bad.Result = "kafkatxn/another", "TestAnother", evidence.NotRecovered, failed
	r, err := Merge([]string{write(t, filepath.Join(dir, "1.json"), on("3.9.2")), write(t, filepath.Join(dir, "2.json"), bad, on("4.4.0"))})
	require.NoError(t, err)
	require.Len(t, r.Cells, 3)
	require.Equal(t, "kafkatxn/another", r.Cells[0].Case, "sorted by case")
	require.Equal(t, ExitFailed, r.ExitCode())
}

func TestShardsWithTheSameCellAreRefused(t *testing.T) {
	dir := t.TempDir()
	one, two := write(t, filepath.Join(dir, "1.json"), on("3.9.2")), write(t, filepath.Join(dir, "2.json"), on("3.9.2"))
	_, err := Merge([]string{one, two})
	require.EqualError(t, err, one+" and "+two+" both have the cell kafkatxn/one (example.com/kafkatxn TestOne, broker 3.9.2, runtime process); give each shard's report of one plan once")
	_, err = Merge([]string{one, one})
	require.ErrorContains(t, err, "both have the cell")
}

// A case that names its own broker shows the same broker whatever the run was asked for.
func TestSameCellOfRunsThatWereAskedForOtherVersionsIsNoDouble(t *testing.T) {
	dir := t.TempDir()
	old, latest, otherRuntime := on("3.5.1"), on("3.5.1"), on("3.5.1")
	old.With, latest.With, otherRuntime.Runtime = "kafka 3.9.2", "kafka 4.4.0", "container"
	skipped := on("")
	skipped.Test, skipped.Runtime, skipped.Verdict = "TestTwo", "", evidence.NotRun
	_, err := Merge([]string{
		write(t, filepath.Join(dir, "1.json"), old, skipped), write(t, filepath.Join(dir, "2.json"), latest),
		write(t, filepath.Join(dir, "3.json"), otherRuntime, skipped),
	})
	require.NoError(t, err)
}

func TestDurationIsThatOfTheSameVersionsElseAnAverage(t *testing.T) {
	cell := func(name, with string, ms int64) Cell { return Cell{Case: name, With: with, ElapsedMS: ms} }
	d := (&Report{Cells: []Cell{cell("a", "kafka 1", 100), cell("a", "kafka 1", 50), cell("a", "kafka 2", 50), cell("b", "", 300), cell("c", "", 0)}}).Durations()
	require.EqualValues(t, 150, d.Of("a", "kafka 1"), "the tests of a case together")
	require.EqualValues(t, 100, d.Of("a", "kafka 3"))
	require.EqualValues(t, 200, d.Of("c", ""), "what is not known is as the others are on average")
}

func TestElapsedTimeOfTheTestIsKept(t *testing.T) {
	var c Collector
	e := json.NewEncoder(&c)
	require.NoError(t, e.Encode(event{Action: "attr", Package: "p", Test: "T", Key: "case", Value: "x/y"}))
	require.NoError(t, e.Encode(event{Action: passed, Package: "p", Test: "T", Elapsed: 1.29}))
	require.EqualValues(t, 1290, c.Report(false).Cells[0].ElapsedMS)
}
