package testenv

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/settings"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// requireOwnFiles wants the files that the broker's processes have mapped, native
// libraries above all, to be none of those that a kill leaves in the machine's directory
// for temporary files. A container has one of its own.
func requireOwnFiles(t *testing.T, place string, b *Broker) {
	t.Helper()
	if place == "container" {
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc here")
	}
	session, err := supervisor.Current()
	require.NoError(t, err)
	s, err := settings.FromEnvironment()
	require.NoError(t, err)
	pids := processesOf(t, b)
	require.Len(t, pids, len(b.nodes))
	for _, pid := range pids {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "maps"))
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			const path = 5 // address, rights, offset, device, inode; a deleted file has one more
			f := strings.Fields(line)
			if len(f) != path+1 || !strings.HasPrefix(f[path], "/tmp/") {
				continue
			}
			own := strings.HasPrefix(f[path], session.Dir+"/") || strings.HasPrefix(f[path], s.Cache+"/")
			require.True(t, own, "process %d has %s mapped", pid, f[path])
		}
	}
}
