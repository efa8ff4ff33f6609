package supervisor

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNothingOutlivesAProgramThatIsKilled(t *testing.T) {
	cmd, told := startHelper(t, t.TempDir(), endNever)
	require.Len(t, alive(told.PIDs), helperSize)
	require.NoError(t, cmd.Process.Kill())
	requireGone(t, told)
}

func TestNothingOutlivesAProgramThatEnds(t *testing.T) {
	for _, how := range []string{endPanic, endExit, endReturn} {
		t.Run(how, func(t *testing.T) {
			_, told := startHelper(t, t.TempDir(), how)
			requireGone(t, told)
		})
	}
}

// A terminal's interrupt reaches the whole foreground group, which the
// supervisor must not be a member of.
func TestSupervisorHeedsNoInterrupt(t *testing.T) {
	cmd, told := startHelper(t, t.TempDir(), endNever)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		require.NoError(t, syscall.Kill(told.Supervisor, s))
	}
	require.Never(t, func() bool { return len(alive(told.PIDs)) < helperSize }, 300*time.Millisecond, 20*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	requireGone(t, told)
}

// Only the kernel can do that, so there is no promise but on Linux. What the
// leaders forked is then beyond reach, and so is the directory, which the next
// session removes.
func TestLeadersDoNotOutliveAKilledSupervisor(t *testing.T) {
	root := t.TempDir()
	cmd, told := startHelper(t, root, endNever)
	killOrphans := func() { // the leaders' own children
		for _, pid := range told.PIDs {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
	}
	t.Cleanup(killOrphans)
	require.NoError(t, syscall.Kill(told.Supervisor, syscall.SIGKILL))
	require.Eventually(t, func() bool {
		for _, pid := range told.PIDs {
			if runs(pid) {
				return false
			}
		}
		return true
	}, gone, 10*time.Millisecond, "leaders are left")
	killOrphans()
	require.Eventually(t, func() bool { return len(alive(told.PIDs)) == 0 }, gone, 10*time.Millisecond)
	_, other := startHelper(t, root, endNever)
	require.NotEqual(t, told.Dir, other.Dir)
	require.DirExists(t, told.Dir, "its program still holds the session")

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	_, next := startHelper(t, root, endNever)
	require.NoDirExists(t, told.Dir)
	require.DirExists(t, next.Dir)
}

func runs(pid int) bool {
	// An orphan that nobody has waited for yet is a zombie, but does not run.
	if _, err := os.Readlink(procFile(pid, "exe")); err != nil {
		return false
	}
	return true
}

func TestSweepSparesALivingSession(t *testing.T) {
	root := t.TempDir()
	_, living := startHelper(t, root, endNever)
	_, next := startHelper(t, root, endNever)
	require.NotEqual(t, living.Dir, next.Dir)
	require.DirExists(t, living.Dir)
	require.Len(t, alive(living.PIDs), helperSize)
}
