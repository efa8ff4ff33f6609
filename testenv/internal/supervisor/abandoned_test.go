package supervisor

import (
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// The manifest of a session whose engine does not answer is all that leads to its
// containers: it stays for the run that can reach the engine.
func TestAbandonedSessionKeepsItsManifestUntilItsEngineAnswers(t *testing.T) {
	root := t.TempDir()
	abandoned, lock, err := newDir(root)
	require.NoError(t, err)
	socket := filepath.Join(t.TempDir(), "engine.sock")
	require.NoError(t, os.WriteFile(filepath.Join(abandoned, engineFile), []byte("unix://"+socket), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(abandoned, "pulsar-1", "data"), 0o755))
	require.NoError(t, lock.Close())
	for range 2 {
		_, lock, err = newDir(root)
		require.NoError(t, err)
		require.NoError(t, lock.Close())
		require.FileExists(t, filepath.Join(abandoned, engineFile))
		require.NoDirExists(t, filepath.Join(abandoned, "pulsar-1"), "but for that it is removed")
	}

	fakeEngine(t, socket)
	_, lock, err = newDir(root)
	require.NoError(t, err)
	defer lock.Close()
	require.NoDirExists(t, abandoned)
}

// fakeEngine has a container and a volume, each no more once it was told to remove it.
func fakeEngine(t *testing.T, socket string) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	left := map[string]string{"containers": `{"Id":"c1"}`, "volumes": `{"Name":"v1"}`}
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/containers/json"):
			_, _ = io.WriteString(w, "["+left["containers"]+"]")
		case strings.HasSuffix(r.URL.Path, "/networks"):
			_, _ = io.WriteString(w, "[]")
		case strings.HasSuffix(r.URL.Path, "/volumes"):
			_, _ = io.WriteString(w, `{"Volumes":[`+left["volumes"]+"]}")
		case r.Method == http.MethodDelete:
			delete(left, path.Base(path.Dir(r.URL.Path)))
			w.WriteHeader(http.StatusNoContent)
		default: // a ping
			w.Header().Set("Api-Version", "1.44")
		}
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.Empty(t, left, "all was removed")
	})
}
