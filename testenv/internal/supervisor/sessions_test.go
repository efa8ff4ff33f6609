package supervisor

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSessionsAreCountedAndLeftAsTheyAre(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	count := func() []int {
		t.Helper()
		inUse, abandoned, err := sessions(t.Context(), root)
		require.NoError(t, err)
		return []int{inUse, abandoned}
	}
	require.Equal(t, []int{0, 0}, count())
	require.NoDirExists(t, root, "nothing is made for it")

	dir, lock, err := newDir(root)
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, count())
	require.NoError(t, lock.Close())
	require.Equal(t, []int{0, 1}, count())
	require.DirExists(t, dir, "nothing is removed")

	_, other, err := newDir(root)
	require.NoError(t, err)
	defer other.Close()
	require.NoDirExists(t, dir, "the next session has removed it")
	require.Equal(t, []int{1, 0}, count())
}

func TestSessionsAreNotWaitedForWithoutEnd(t *testing.T) {
	root := t.TempDir()
	gate, err := lockFileAt(filepath.Join(root, gateFile), syscall.LOCK_EX)
	require.NoError(t, err)
	defer gate.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, _, err = sessions(ctx, root)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
