package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// fourCases have names of which one begins another; two are of one test, and one names its own broker.
const fourCases = `package cases

import (
	"os"
	"testing"
)

func is(t *testing.T, name, verdict string) {
	t.Attr("case", name)
	t.Attr("broker", "pulsar")
	t.Attr("broker_version", os.Getenv("BROKERFAULT_PULSAR"))
	t.Attr("verdict", verdict)
}

func TestOne(t *testing.T)     { is(t, "cases/one", "recovered") }
func TestOneMore(t *testing.T) { is(t, "cases/one-more", "recovered") }
func TestTwins(t *testing.T) {
	t.Run("a", func(t *testing.T) { is(t, "cases/two", "recovered") })
	t.Run("b", func(t *testing.T) { is(t, "cases/two", "recovered") })
}
func TestOwnBroker(t *testing.T) {
	is(t, "cases/a-broker-of-its-own", "recovered")
	t.Attr("broker_version", "1.0.0")
}
func TestNoCase(t *testing.T) {}
`

// says runs the command, wants the exit code, and returns what it printed.
func says(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, words bytes.Buffer
	require.Equal(t, code, Main(args, &out, &words), "%v: %s%s", args, &out, &words)
	return out.String(), words.String()
}

func planned(t *testing.T, args ...string) (m matrix, stderr string) {
	t.Helper()
	out, words := says(t, gate.ExitOK, append([]string{"plan"}, args...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &m), out)
	return m, words
}

// inShell are the words that a shell makes of a shard's args.
func inShell(t *testing.T, args string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "set -- "+args+`; for word in "$@"; do echo "$word"; done`).Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func cellsOf(t *testing.T, document string) []string {
	t.Helper()
	var r gate.Report
	require.NoError(t, json.Unmarshal([]byte(document), &r), document)
	var all []string
	for _, c := range r.Cells {
		all = append(all, fmt.Sprint(c.Case, " ", c.Test, " ", c.BrokerVersion))
	}
	slices.Sort(all)
	return all
}

func TestShardsRunAndMergedAreTheWholeRun(t *testing.T) {
	module(t, fourCases)
	whole, _ := says(t, gate.ExitOK, "run", "-json", "-case", ".", "-broker", "pulsar=3.0.2,4.2.4")
	require.Len(t, cellsOf(t, whole), 10)
	for _, n := range []int{2, 5} {
		m, words := planned(t, "-shards", fmt.Sprint(n), "-broker", "pulsar=3.0.2,4.2.4")
		require.Len(t, m.Include, n)
		require.Equal(t, "list the cases of ./...\n", words)
		merge := []string{"merge"}
		for i, in := range m.Include {
			require.Equal(t, i+1, in.Shard)
			out, _ := says(t, gate.ExitOK, append([]string{"run", "-json"}, inShell(t, in.Args)...)...)
			file := fmt.Sprintf("%d-%d.json", n, i)
			require.NoError(t, os.WriteFile(file, []byte(out), 0o600))
			merge = append(merge, file)
		}
		merged, _ := says(t, gate.ExitOK, merge...)
		require.Equal(t, cellsOf(t, whole), cellsOf(t, merged), "%d shards", n)
	}
}

func TestMoreShardsThanCellsAreAsManyAsCells(t *testing.T) {
	module(t, fourCases)
	m, words := planned(t, "-shards", "9", "-case", "one")
	require.Len(t, m.Include, 2)
	require.Contains(t, words, "2 shards instead of 9, for there are no more cells")
	require.Equal(t, "-packages example.com/pulsarcases -case '^(cases/one)$'", m.Include[0].Args)
}

func TestShardsAreBalancedByAnEarlierReport(t *testing.T) {
	module(t, fourCases)
	report := func(name string, took map[string]int64) {
		r := gate.NewReport()
		for _, c := range []string{"cases/one", "cases/one-more", "cases/two"} {
			r.Cells = append(r.Cells, gate.Cell{Case: c, Verdict: "recovered", ElapsedMS: took[c]})
		}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, text, 0o600))
	}
	report("before.json", map[string]int64{"cases/one": 1000, "cases/one-more": 9000, "cases/two": 2000})
	m, words := planned(t, "-shards", "2", "-case", "one|two", "-from", "before.json")
	require.Equal(t, "list the cases of ./...\n", words)
	require.Equal(t, []int64{9000, 3000}, []int64{m.Include[0].ExpectedMS, m.Include[1].ExpectedMS})
	require.Contains(t, m.Include[1].Args, "'^(cases/one|cases/two)$'")

	report("older.json", nil)
	m, words = planned(t, "-shards", "2", "-from", "older.json")
	require.Contains(t, words, "older.json tells no durations, so shards have the same number of cells")
	require.Zero(t, m.Include[0].ExpectedMS)
}

func TestMergeExitsAsTheWholeAndWritesWhatRunDoes(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, cell := range map[string]gate.Cell{
		"1.json": {Case: "a/one", Package: "p", Test: "One", Verdict: "recovered", Result: "pass"},
		"2.json": {Case: "a/two", Package: "p", Test: "Two", Verdict: "not recovered", Result: "fail", Reason: "<script>"},
	} {
		r := gate.NewReport()
		r.Cells = []gate.Cell{cell}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, text, 0o600))
	}
	out, _ := says(t, gate.ExitFailed, "merge", "-html", "all.html", "-junit", "all.xml", "-markdown", "all.md", "1.json", "2.json")
	require.Equal(t, []string{"a/one One ", "a/two Two "}, cellsOf(t, out))
	for file, want := range map[string]string{"all.html": "&lt;script&gt;", "all.xml": `tests="2" failures="1"`, "all.md": "| a/two |"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Contains(t, string(text), want)
	}
	_, words := says(t, exitUsage, "merge", "1.json", "1.json")
	assert.Contains(t, words, "both have the cell a/one")
	_, words = says(t, exitUsage, "merge", "1.json", "all.md")
	assert.Contains(t, words, "all.md is no report of faultgate run -json")
}
