package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

const leavesATimeline = `package cases

import ("os"; "path/filepath"; "testing")

func TestCase(t *testing.T) {
	t.Attr("case", "cases/one")
	t.Attr("verdict", "not recovered")
	t.Attr("reason", "it said <script>alert(1)</script>")
	const timeline = ` + "`" + `{"entries":[{"at_ms":0,"kind":"case","text":"cases/one: it comes back"},
		{"at_ms":5,"kind":"within","text":"it sends","wait":{"name":"it sends","budget_ms":1000}},
		{"at_ms":9,"kind":"holds","text":"it sends","wait":{"name":"it sends","budget_ms":1000,"took_ms":4}}]}` + "`" + `
	os.WriteFile(filepath.Join(t.ArtifactDir(), "timeline.json"), []byte(timeline), 0o600)
	t.Fatal("not recovered")
}
`

func TestPageOfARunAndOfItsDocumentShowItsArtifacts(t *testing.T) {
	module(t, leavesATimeline)
	out, _ := says(t, gate.ExitFailed, "run", "-json", "-artifacts", "kept", "-html", "kept/run.html", "-junit", "run.xml")
	require.NoError(t, os.WriteFile("kept/run.json", []byte(out), 0o600))
	_, words := says(t, gate.ExitOK, "report", "-o", "kept/report.html", "kept/run.json")
	assert.Contains(t, words, "wrote kept/report.html")
	// The document of a run elsewhere, with its artifacts beside it.
	require.NoError(t, os.Rename("kept", "downloaded"))
	page, _ := says(t, gate.ExitOK, "report", "-output=-", "downloaded")
	require.NoError(t, os.WriteFile("stdout.html", []byte(page), 0o600))
	for _, file := range []string{"downloaded/run.html", "downloaded/report.html", "stdout.html"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Contains(t, string(text), "it said &lt;script&gt;alert(1)&lt;/script&gt;", file)
		assert.Contains(t, string(text), "it comes back", file)
		assert.Regexp(t, `href="(downloaded/)?_artifacts/[^"]+/timeline.json"`, string(text), file)
	}
	junit, err := os.ReadFile("run.xml")
	require.NoError(t, err)
	assert.Contains(t, string(junit), `<testcase name="cases/one"`)
}

// Whoever asks for a verdict gets it, whatever cannot be written.
func TestVerdictOutlivesAFileThatCannotBeWritten(t *testing.T) {
	module(t, leavesATimeline)
	t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join("none", "summary.md"))
	_, words := says(t, gate.ExitFailed, "run")
	require.Contains(t, words, "write the job's summary: open "+filepath.Join("none", "summary.md"))
}

func TestFileThatCannotBeWrittenIsToldBeforeTheRun(t *testing.T) {
	module(t, leavesATimeline)
	missing := filepath.Join("none", "run.html")
	out, words := says(t, exitUsage, "run", "-json", "-html", missing, "-junit", "run.xml")
	require.Contains(t, words, "--html: open "+missing)
	require.Empty(t, out)
	require.NoFileExists(t, "run.xml")

	require.NoError(t, os.WriteFile("file", nil, 0o600))
	_, words = says(t, exitUsage, "run", "-artifacts", "file")
	require.Contains(t, words, "--artifacts: mkdir file")
}

func TestGoModThatDoesNotParseIsTheEnvironmentsFault(t *testing.T) {
	module(t, leavesATimeline)
	require.NoError(t, os.WriteFile("go.mod", []byte("modul x\n"), 0o600))
	out, words := says(t, gate.ExitEnvironment, "run")
	require.Contains(t, words, "go.mod:1")
	require.Contains(t, out, "go test failed before it came to a package")
}
