package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
	"github.com/brokerfault/brokerfault/testenv/internal/trackrecord"
)

// healsAtTwo is a case that recovers with v1.2.0 and newer, and lists so.
const healsAtTwo = `package cases

import (
	"os"
	"testing"

	"example.com/client"
)

func TestCase(t *testing.T) {
	t.Attr("case", "cases/one")
	t.Attr("client", "example.com/client")
	t.Attr("client_version", client.Version)
	if os.Getenv("BROKERFAULT_LIST") == "1" {
		t.Attr("claim", "it comes back")
		t.Attr("known_bad_at", ` + "`" + `[{"client":"v1.1.0","evidence":"dead"}]` + "`" + `)
		t.Attr("known_good_at", ` + "`" + `[{"client":"v1.2.0"}]` + "`" + `)
		t.Skip("only lists")
	}
	t.Attr("budget_ms", "30000")
	if client.Version < "v1.2.0" {
		t.Attr("verdict", "not recovered")
		t.Attr("at_fault", "client")
		t.Attr("reason", "dead")
		t.Fatal("dead")
	}
	t.Attr("recovery_ms", "100")
	t.Attr("verdict", "recovered")
}
`

// cases is a module with that case and four releases of its client.
func cases(t *testing.T) {
	t.Helper()
	proxy(t, "v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0")
	module(t, healsAtTwo)
	t.Setenv("GOFLAGS", "-modcacherw")
	for file, version := range map[string]string{"go.mod": "v1.2.0", "old.mod": "v1.1.0"} {
		text := "module example.com/pulsarcases\n\ngo 1.26\n\nrequire example.com/client " + version + "\n"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	require.NoError(t, exec.CommandContext(t.Context(), "go", "mod", "tidy").Run())
}

func TestCompareBlocksWhatRegressesAndAllowsWhatHeals(t *testing.T) {
	cases(t)
	for _, tt := range []struct {
		base, head string
		code       int
		kind       gate.Kind
		junit      string
	}{
		{"go.mod", "old.mod", gate.ExitFailed, gate.Regressed, `tests="1" failures="1"`},
		{"old.mod", "go.mod", gate.ExitOK, gate.Fixed, `tests="1"`},
	} {
		var out, progress bytes.Buffer
		code := Main([]string{"compare", "-json", "-markdown", "out.md", "-html", "out.html", "-junit", "out.xml", "-base", tt.base, "-head", tt.head}, &out, &progress)
		require.Equal(t, tt.code, code, progress.String()+out.String())
		var c gate.Comparison
		require.NoError(t, json.Unmarshal(out.Bytes(), &c))
		require.Len(t, c.Changes, 1)
		assert.Equal(t, tt.kind, c.Changes[0].Kind)
		written, err := os.ReadFile("out.md")
		require.NoError(t, err)
		assert.Contains(t, string(written), "| "+string(tt.kind)+" | cases/one |")
		page, err := os.ReadFile("out.html")
		require.NoError(t, err)
		assert.Contains(t, string(page), "<title>"+c.Decision()+": ")
		assert.Contains(t, string(page), "1 "+string(tt.kind))
		junit, err := os.ReadFile("out.xml")
		require.NoError(t, err)
		assert.Regexp(t, `<testsuites [^>]*`+tt.junit+`>`, string(junit))
		assert.Contains(t, string(junit), `<testcase name="cases/one" classname="example.com/pulsarcases"`)
	}
}

func TestCompareOfTheSameVersionsRunsNothingAndAllows(t *testing.T) {
	cases(t)
	var out, progress bytes.Buffer
	require.Equal(t, gate.ExitOK, Main([]string{"compare", "-base", "go.mod", "-junit", "out.xml"}, &out, &progress), progress.String())
	assert.Contains(t, out.String(), "allow")
	assert.FileExists(t, "out.xml", "a CI system that looks for it finds no test case in it")
	assert.NotContains(t, progress.String(), "TestCase")
}

func TestCompareAllowsNothingThatItCannotResolveOrCompare(t *testing.T) {
	cases(t)
	for file, text := range map[string]string{
		"unknown.mod": "module x\n\ngo 1.26\n\nrequire example.com/client v1.99.9\n",
		"without.mod": "module x\n\ngo 1.26\n",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	var out, words bytes.Buffer
	require.Equal(t, gate.ExitEnvironment, Main([]string{"compare", "-base", "go.mod", "-head", "unknown.mod"}, &out, &words), out.String())
	require.Contains(t, words.String(), "resolve example.com/client v1.99.9 in unknown.mod")
	require.Equal(t, gate.ExitNothingRan, Main([]string{"compare", "-base", "without.mod"}, &out, &words), out.String())
	require.Contains(t, words.String(), "have none of the clients under test in common: example.com/client")
	require.NotContains(t, out.String(), "allow")
}

func TestBisectFindsTheReleaseThatHeals(t *testing.T) {
	cases(t)
	var out, progress bytes.Buffer
	code := Main([]string{"bisect", "-json", "-case", "one", "-client", clientModule, "-bad", "v1.0.0", "-good", "v1.3.0",
		"-versions", "v1.1.0,v1.2.0"}, &out, &progress)
	require.Equal(t, gate.ExitOK, code, progress.String()+out.String())
	var f found
	require.NoError(t, json.Unmarshal(out.Bytes(), &f))
	assert.Equal(t, found{"cases/one", clientModule, "v1.2.0", "v1.1.0", true, []string{"v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0"}, nil}, f)
}

func TestBisectGoesAroundWhatItCannotRun(t *testing.T) {
	cases(t)
	var out, progress bytes.Buffer
	code := Main([]string{"bisect", "-case", "one", "-client", clientModule, "-bad", "v1.0.0", "-good", "v1.3.0",
		"-versions", "v1.1.0,v1.1.1,v1.1.2"}, &out, &progress)
	require.Equal(t, gate.ExitOK, code, progress.String()+out.String())
	assert.Contains(t, out.String(), "v1.3.0 is the first release that heals it, of v1.0.0, v1.1.0, v1.1.1, v1.1.2, v1.3.0; v1.1.0 is not so")
	assert.Contains(t, out.String(), "not told, as it could not be run: v1.1.1, v1.1.2")
}

func TestBisectBelievesNeitherEnd(t *testing.T) {
	cases(t)
	var out, progress bytes.Buffer
	code := Main([]string{"bisect", "-case", "one", "-client", clientModule, "-bad", "v1.3.0", "-good", "v1.2.0",
		"-versions", "v1.2.0"}, &out, &progress)
	require.Equal(t, gate.ExitEnvironment, code)
	assert.Contains(t, progress.String(), "v1.3.0 was given as bad, but is not so")
}

func TestControlsRunWhatIsListed(t *testing.T) {
	cases(t)
	var out, progress bytes.Buffer
	t.Setenv("GITHUB_STEP_SUMMARY", "summary.md")
	require.Equal(t, gate.ExitOK, Main([]string{"controls", "-json", "-markdown", "out.md", "-html", "out.html", "-junit", "out.xml"}, &out, &progress), progress.String())
	var all gate.Controls
	require.NoError(t, json.Unmarshal(out.Bytes(), &all))
	require.Len(t, all, 2)
	for _, c := range all {
		assert.Equal(t, gate.AsListed, c.Outcome, c)
	}
	for file, want := range map[string]string{
		"out.md": "| cases/one | client v1.1.0 | failing | as listed |", "summary.md": "### 2 of 2 combinations are as listed",
		"out.html": "<title>2 of 2 combinations are as listed: ", "out.xml": `<testcase name="client v1.1.0 is listed as failing" classname="cases/one"`,
	} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Contains(t, string(text), want, file)
	}
	progress.Reset()
	require.Equal(t, exitUsage, Main([]string{"controls", "-junit", "none/out.xml"}, &out, &progress))
	assert.Contains(t, progress.String(), "--junit: open none/out.xml")
}

func TestControlsThatAnInterruptKeptFromRunningAreNotTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := newControls()
	c.SetContext(ctx)
	all, report, err := runControls(c, &suite.Suite{}, gate.Catalogue{{Case: "x/one", KnownBad: []gate.Combination{{Client: "v1.0.0"}}}})
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, gate.ExitEnvironment, all.ExitCode())
	require.True(t, report.Interrupted)
}

func TestControlsNoteWhatTheySawRed(t *testing.T) {
	cases(t)
	require.NoError(t, os.WriteFile("record.json", []byte(`[{"case":"cases/other","date":"2026-01-31","commit":"abc"}]`), 0o600))
	var out, progress bytes.Buffer
	require.Equal(t, gate.ExitOK, Main([]string{"controls", "-record", "record.json"}, &out, &progress), progress.String())
	record, err := trackrecord.Read("record.json")
	require.NoError(t, err)
	require.Len(t, record, 2)
	assert.Equal(t, "cases/other", record[1].Case)
	assert.Equal(t, trackrecord.Sighting{
		Case: "cases/one", Client: clientModule, ClientVersion: "v1.1.0",
		Date: time.Now().UTC().Format(time.DateOnly), Commit: record[0].Commit, Symptom: "dead",
	}, record[0])
	assert.NotEmpty(t, record[0].Commit)

	require.NoError(t, os.WriteFile("record.json", []byte("no record"), 0o600))
	progress.Reset()
	require.Equal(t, exitUsage, Main([]string{"controls", "-record", "record.json"}, &out, &progress))
	assert.Contains(t, progress.String(), "read the track record record.json")
	assert.NotContains(t, progress.String(), "TestCase", "nothing ran for it")
}

func TestListNamesTheCases(t *testing.T) {
	cases(t)
	var out, progress bytes.Buffer
	require.Equal(t, gate.ExitOK, Main([]string{"list", "-markdown"}, &out, &progress), progress.String())
	assert.Contains(t, out.String(), "| cases/one | it comes back | client v1.1.0 | client v1.2.0 |")
	assert.Equal(t, gate.ExitNothingRan, Main([]string{"list", "-case", "nothing"}, &out, &progress))
	assert.Equal(t, exitUsage, Main([]string{"run", "-client", "example.com/other=v1.0.0"}, &out, &progress))
	assert.Contains(t, progress.String(), "no case here is about example.com/other")
}

func TestRunTakesSeveralVersions(t *testing.T) {
	cases(t)
	var out, progress bytes.Buffer
	code := Main([]string{"run", "-json", "-case", "one", "-client", clientModule + "=v1.1.0,v1.2.0,v9.9.9"}, &out, &progress)
	require.Equal(t, gate.ExitFailed, code, progress.String())
	var r gate.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Len(t, r.Cells, 2)
	assert.EqualValues(t, "not recovered", r.Cells[0].Verdict)
	assert.EqualValues(t, "recovered", r.Cells[1].Verdict)
	require.Len(t, r.Environment, 1)
	assert.Contains(t, r.Environment[0].Output, "v9.9.9")
}
