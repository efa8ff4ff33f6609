package suite

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

const oneEndsOneHangs = `package cases

import ("testing"; "time")

func TestA(t *testing.T) {
	t.Attr("case", "cases/a")
	t.Attr("verdict", "recovered")
}

func TestB(t *testing.T) {
	t.Attr("case", "cases/b")
	time.Sleep(time.Hour)
}
`

func TestInterruptReachesTheTestsAndKeepsWhatWasDone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/cases\n\ngo 1.26\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x_test.go"), []byte(oneEndsOneHangs), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	var out gate.Collector
	// TestB begins right after; whether it has recorded its case is not told.
	out.Finished = func(gate.Progress) { cancel() }
	_, err := goTest(ctx, dir, []string{"test", "-json", "-count=1", "./..."}, []string{"GOFLAGS=", "GOWORK=off"}, &out, io.Discard)
	require.NoError(t, err)
	r := out.Report(true)
	require.NotEmpty(t, r.Cells)
	assert.Equal(t, evidence.Recovered, r.Cells[0].Verdict)
	for _, c := range r.Cells[1:] {
		assert.Equal(t, evidence.Environment, c.Verdict)
	}
	assert.Equal(t, gate.ExitEnvironment, r.ExitCode())
	var b bytes.Buffer
	require.NoError(t, r.Print(&b))
	assert.Contains(t, b.String(), "interrupted")
}
