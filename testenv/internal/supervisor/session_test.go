package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func procFile(pid int, name string) string { return filepath.Join("/proc", strconv.Itoa(pid), name) }

// session is this test binary's own.
func session(t *testing.T) *Session {
	t.Helper()
	s, err := Current()
	require.NoError(t, err)
	return s
}

func command(t *testing.T, args ...string) Command {
	t.Helper()
	dir := t.TempDir()
	return Command{Args: args, Dir: dir, Log: filepath.Join(dir, "log")}
}

func TestRunEndsWithItsContext(t *testing.T) {
	cause := errors.New("the test has ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
	began := time.Now()
	require.ErrorIs(t, session(t).Run(ctx, command(t, "sleep", "300")), cause)
	require.Less(t, time.Since(began), 2*time.Second)
}

func TestRunKeepsTheOutputInTheLog(t *testing.T) {
	c := command(t, "sh", "-c", "echo out; echo err >&2; pwd")
	require.NoError(t, session(t).Run(t.Context(), c))
	require.NoError(t, session(t).Run(t.Context(), c))
	text, err := os.ReadFile(c.Log)
	require.NoError(t, err)
	once := "out\nerr\n" + c.Dir + "\n"
	require.Equal(t, once+once, string(text), "it is appended to")
}

func TestCommandThatIsNotThereIsAnError(t *testing.T) {
	_, err := session(t).Start(command(t, "no-such-command"))
	require.ErrorContains(t, err, `start "no-such-command"`)
	require.ErrorContains(t, err, "not found")
	_, err = session(t).Start(Command{})
	require.ErrorContains(t, err, "no command given")
}

func TestDirectoryThatIsNotThereIsAnError(t *testing.T) {
	c := command(t, "sleep", "1")
	c.Dir = filepath.Join(c.Dir, "gone")
	_, err := session(t).Start(c)
	require.ErrorContains(t, err, "no such file or directory")
	c = command(t, "sleep", "1")
	c.Log = filepath.Join(c.Dir, "gone", "log")
	_, err = session(t).Start(c)
	require.ErrorContains(t, err, "no such file or directory")
}

func TestProcessThatEndsAtOnceTellsHow(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		want   string
	}{
		"well":        {"exit 0", ""},
		"with status": {"exit 3", "exit status 3"},
		"by signal":   {"kill -9 $$", "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				p, err := session(t).Start(command(t, "sh", "-c", test.script))
				require.NoError(t, err)
				if test.want == "" {
					require.NoError(t, p.Err())
				} else {
					require.EqualError(t, p.Err(), test.want)
				}
				require.NoError(t, p.Signal(syscall.SIGKILL), "an ended one takes a signal and does nothing")
			}
		})
	}
}

func TestSignalReachesTheWholeGroup(t *testing.T) {
	c := command(t, "sh", "-c", "sleep 300 & echo $! > child; wait")
	p, err := session(t).Start(c)
	require.NoError(t, err)
	var child int
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(filepath.Join(c.Dir, "child"))
		if len(text) == 0 || text[len(text)-1] != '\n' {
			return false
		}
		child, err = strconv.Atoi(string(text[:len(text)-1]))
		return err == nil
	}, 5*time.Second, 10*time.Millisecond)
	require.NoError(t, p.Signal(syscall.SIGTERM))
	require.EqualError(t, p.Err(), "signal: terminated")
	require.Eventually(t, func() bool { return syscall.Kill(child, 0) != nil || !runs(child) }, 2*time.Second, 10*time.Millisecond)
}

func TestManyProcessesAtATime(t *testing.T) {
	s := session(t)
	c := command(t, "sh", "-c", "exit 5")
	var wg sync.WaitGroup
	errs := make([]error, 30)
	for i := range errs {
		wg.Go(func() { errs[i] = s.Run(t.Context(), c) })
	}
	wg.Wait()
	for _, err := range errs {
		require.EqualError(t, err, "exit status 5")
	}
}

func TestNoProcessStartsOnceTheSupervisorIsGone(t *testing.T) {
	s, err := open(t.TempDir())
	require.NoError(t, err)
	p, err := s.Start(command(t, "sleep", "300"))
	require.NoError(t, err)
	supervisor, err := parentOf(p.PID)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(supervisor, syscall.SIGKILL))
	require.ErrorIs(t, p.Err(), ErrGone)
	_, err = s.Start(command(t, "sleep", "300"))
	require.ErrorIs(t, err, ErrGone)
	require.ErrorIs(t, p.Signal(syscall.SIGKILL), ErrGone)
}
