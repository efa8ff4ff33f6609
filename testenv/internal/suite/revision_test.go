package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRevisionNamesTheCommitAndSaysWhetherItIsAllThereIs(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n"), 0o600))
	git("init", "-q")
	git("add", "a.go")
	git("commit", "-q", "-m", "a")
	s := Suite{Dir: dir}
	commit := s.Revision()
	require.Regexp(t, `^[0-9a-f]{12}$`, commit)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "record.json"), []byte("[]"), 0o600))
	require.Equal(t, commit, s.Revision(), "a record is no source")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.go"), []byte("package a\n"), 0o600))
	require.Equal(t, commit+"+changes", s.Revision())
}
