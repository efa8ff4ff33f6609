package process

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFrozenIsAProcessThatWasStopped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	require.False(t, frozen(cmd.Process.Pid))
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, awaitFrozen(soon, cmd.Process.Pid), "stands still")

	// As the supervisor does it: some time later.
	time.AfterFunc(50*time.Millisecond, func() { _ = cmd.Process.Signal(syscall.SIGSTOP) })
	require.NoError(t, awaitFrozen(t.Context(), cmd.Process.Pid))
	require.True(t, frozen(cmd.Process.Pid))
}
