package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// interruptGrace is how long go test has to end after an interrupt.
const interruptGrace = 20 * time.Second

// goTest runs the go command in a process group of its own, which an
// interrupt of ctx reaches as a whole, and returns once the stream has ended.
// That tests failed is no error: the stream tells it, if there is one.
func goTest(ctx context.Context, dir string, args, env []string, stdout, stderr io.Writer) (failed bool, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = interruptGrace
	err = cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		// What is left of the group ignored the interrupt.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return false, nil
	}
	var ended *exec.ExitError
	if err == nil || errors.As(err, &ended) && ended.ExitCode() == 1 {
		return err != nil, nil
	}
	return true, fmt.Errorf("run go test: %w", err)
}
