package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

func TestSingleDashIsTakenAsTheGoCommandDoes(t *testing.T) {
	for _, tt := range []struct{ in, want []string }{
		{[]string{"run", "-client", "m=v1"}, []string{"run", "--client", "m=v1"}},
		{[]string{"run", "-broker=pulsar=3.0.2", "--json"}, []string{"run", "--broker=pulsar=3.0.2", "--json"}},
		{[]string{"run", "-json", "--", "-run", "X", "-json"}, []string{"run", "--json", "--", "-run", "X", "-json"}},
		{[]string{"-h"}, []string{"-h"}},
		{[]string{"-help"}, []string{"--help"}},
		{[]string{"run", "-nonsense"}, []string{"run", "-nonsense"}},
	} {
		assert.Equal(t, tt.want, doubleDashed(newRoot(), tt.in))
	}
}

func TestWrongCommandLineIsRefused(t *testing.T) {
	for _, args := range [][]string{
		{"run", "-client", "m"}, {"run", "-client", "m=v1,"}, {"run", "-client", "m=v1", "-client", "m=v2"},
		{"run", "-broker", "redis=7"}, {"run", "-broker", "kafka="}, {"run", "-runtime", "podman"},
		{"run", "-profile", "slow"}, {"run", "./..."}, {"run", "-nonsense"}, {"compare"}, {"bisect", "-case", "x"},
		{"report"}, {"report", "a", "b"}, {"report", "none.json"}, {"merge"}, {"plan"}, {"plan", "-shards", "0"},
		{"plan", "-shards", "2", "./..."}, {"plan", "-shards", "2", "-from", "none.json"}, {"plan", "-shards", "2", "-broker", "redis=7"},
	} {
		var out, err bytes.Buffer
		assert.Equal(t, exitUsage, Main(args, &out, &err), args)
		assert.Contains(t, err.String(), "faultgate: ", args)
	}
}

func TestWrongCommandLineIsRefusedBeforeTheCasesAreListed(t *testing.T) {
	cases(t)
	require.NoError(t, os.WriteFile("broken.mod", []byte("modul x\n"), 0o600))
	bisect := []string{"bisect", "-case", "one", "-client", clientModule}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "-client", "example.com/other=v1.0.0"}, "no case here is about example.com/other"},
		{[]string{"plan", "-shards", "2", "-client", "example.com/other=v1.0.0"}, "no case here is about example.com/other"},
		{[]string{"prefetch", "-runtime", "process", "-client", "example.com/other=v1.0.0"}, "no case here is about example.com/other"},
		{[]string{"bisect", "-case", "one", "-client", "example.com/other", "-good", "v1.0.0", "-bad", "v1.1.0"}, "no case here is about example.com/other"},
		{append(bisect, "-good", "v1.0.0", "-bad", "v1.0.0"), "--good v1.0.0 and --bad v1.0.0 are the same release"},
		{append(bisect, "-good", "1.0.0", "-bad", "v1.1.0"), `"1.0.0" is no version of a module`},
		{append(bisect, "-good", "v1.0.0", "-bad", "v1.1.0", "-versions", "v1.0.1,latest"), `"latest" is no version of a module`},
		{append(bisect, "-good", "v1.0.0", "-bad", "v1.1.0", "-artifacts", "go.mod"), "--artifacts: mkdir go.mod"},
		{[]string{"compare", "-base", "none.mod"}, `--base: "none.mod" is neither a file nor a git revision`},
		{[]string{"compare", "-base", "go.mod", "-head", "broken.mod"}, "--head: read broken.mod"},
		{[]string{"compare", "-base", "old.mod", "--", "-run", "TestCase"}, "-run behind -- does not go with compare"},
		{[]string{"controls", "-record", "none/record.json"}, "--record: open none/record.json"},
		{[]string{"controls", "-artifacts", "go.mod"}, "--artifacts: mkdir go.mod"},
		{[]string{"controls", "--", "-run=TestCase"}, "-run behind -- does not go with controls"},
		{append(bisect, "-good", "v1.0.0", "-bad", "v1.1.0", "--", "-run=TestCase"), "-run behind -- does not go with bisect"},
		{[]string{"run", "-case", "one", "--", "-timeout=soon"}, `the flags of go test behind --: invalid value "soon" for flag -timeout: parse error; go help testflag`},
		{[]string{"list", "-case", "("}, `--case "(": error parsing regexp`},
		{[]string{"run", "-case", "("}, `--case "(": error parsing regexp`},
	} {
		var out, words bytes.Buffer
		assert.Equal(t, exitUsage, Main(tt.args, &out, &words), tt.args)
		assert.Contains(t, words.String(), "faultgate: "+tt.want, tt.args)
		assert.NotContains(t, words.String(), "list the cases", tt.args)
	}
}

// module is a small module in a directory of its own, which the test enters.
func module(t *testing.T, test string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/pulsarcases\n\ngo 1.26\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x_test.go"), []byte(test), 0o600))
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
}

func TestFlagThatTheTestsDoNotHaveIsAWrongCommandLine(t *testing.T) {
	cases(t)
	for _, args := range [][]string{
		{"run"}, {"run", "-json", "-case", "one"}, {"compare", "-base", "old.mod"}, {"controls"},
		{"bisect", "-case", "one", "-client", clientModule, "-good", "v1.2.0", "-bad", "v1.1.0"},
	} {
		out, words := says(t, exitUsage, append(args, "--", "-nonsense")...)
		assert.Contains(t, words, "faultgate: the flags of go test behind --: flag provided but not defined: -nonsense;", args)
		assert.Empty(t, out, args)
	}
	// Where the tests of another package have it and ran, the report is printed.
	require.NoError(t, os.Mkdir("other", 0o755))
	const takes = "package other\n\nimport (\"flag\"; \"testing\")\n\nvar _ = flag.Bool(\"nonsense\", false, \"\")\n\nfunc TestOther(*testing.T) {}\n"
	require.NoError(t, os.WriteFile("other/x_test.go", []byte(takes), 0o600))
	out, _ := says(t, gate.ExitFailed, "run", "--", "-nonsense")
	assert.Contains(t, out, "failed: example.com/pulsarcases\n")
}

const recordsItsSettings = `package cases

import ("os"; "testing")

func TestCase(t *testing.T) {
	t.Attr("case", "cases/one")
	t.Attr("broker_version", os.Getenv("BROKERFAULT_PULSAR"))
	t.Attr("runtime", os.Getenv("BROKERFAULT_BACKEND"))
	t.Attr("reason", os.Getenv("BROKERFAULT_PROFILE"))
	t.Attr("verdict", "recovered")
	t.ArtifactDir()
}

func TestOther(t *testing.T) { t.Fatal("not asked for") }
`

func TestRunPassesItsFlagsOnAndPrintsJSON(t *testing.T) {
	module(t, recordsItsSettings)
	var out, progress bytes.Buffer
	code := Main([]string{"run", "-json", "-broker", "pulsar=3.0.2", "-runtime", "process", "-profile", "full",
		"-artifacts", "kept", "-case", "^cases/one$", "--", "-timeout=1m"}, &out, &progress)
	require.Equal(t, gate.ExitOK, code, progress.String())
	var r gate.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Len(t, r.Cells, 1)
	assert.Equal(t, "3.0.2", r.Cells[0].BrokerVersion)
	assert.Equal(t, "process", r.Cells[0].Runtime)
	assert.Equal(t, "full", r.Cells[0].Reason)
	assert.DirExists(t, r.Cells[0].Artifacts)
	assert.Contains(t, progress.String(), "cases/one, 3.0.2: recovered")

	assert.Equal(t, exitUsage, Main([]string{"run", "-case", "one", "--", "-run=TestOther"}, &out, &progress))
	assert.Contains(t, progress.String(), "-run behind -- does not go with --case")
}

func TestRunEndsWithTheReportsExitCode(t *testing.T) {
	module(t, recordsItsSettings)
	var out, progress bytes.Buffer
	assert.Equal(t, gate.ExitFailed, Main([]string{"run"}, &out, &progress))
	assert.Contains(t, out.String(), "failed: example.com/pulsarcases TestOther")
	assert.Equal(t, gate.ExitNothingRan, Main([]string{"run", "--", "-run", "None"}, &out, &progress))
}
