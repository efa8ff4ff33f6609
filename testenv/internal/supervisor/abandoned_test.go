package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAbandonedSessionIsRemoved(t *testing.T) {
	root := t.TempDir()
	abandoned, lock, err := newDir(root)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(abandoned, "pulsar-1", "data"), 0o755))
	require.NoError(t, lock.Close())

	next, lock, err := newDir(root)
	require.NoError(t, err)
	defer lock.Close()
	require.NoDirExists(t, abandoned)
	require.DirExists(t, next)
}

func TestLockedSessionIsNeverRemoved(t *testing.T) {
	root := t.TempDir()
	held, lock, err := newDir(root)
	require.NoError(t, err)
	defer lock.Close()
	_, other, err := newDir(root)
	require.NoError(t, err)
	defer other.Close()
	require.DirExists(t, held)
}

func TestSweepLeavesAloneWhatIsNoSession(t *testing.T) {
	root := t.TempDir()
	mine := filepath.Join(root, "notes")
	require.NoError(t, os.Mkdir(mine, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "session-file"), nil, 0o600))
	_, lock, err := newDir(root)
	require.NoError(t, err)
	defer lock.Close()
	require.DirExists(t, mine)
	require.FileExists(t, filepath.Join(root, "session-file"))
}

// A session whose engine does not answer is removed all the same, within a bound.
func TestAbandonedSessionWithoutItsEngineIsRemoved(t *testing.T) {
	root := t.TempDir()
	abandoned, lock, err := newDir(root)
	require.NoError(t, err)
	engine := "unix://" + filepath.Join(root, "no.sock")
	require.NoError(t, os.WriteFile(filepath.Join(abandoned, engineFile), []byte(engine), 0o600))
	require.NoError(t, lock.Close())
	_, lock, err = newDir(root)
	require.NoError(t, err)
	defer lock.Close()
	require.NoDirExists(t, abandoned)
}
