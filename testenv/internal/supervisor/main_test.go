package supervisor

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// envHelper makes this test binary a program that has processes supervised.
// Its value says how the program ends.
const envHelper = "SUPERVISOR_TEST_HELPER"

const (
	endNever   = "never" // it is killed from outside
	endPanic   = "panic"
	endExit    = "exit"
	endReturn  = "return"
	helperSize = 3 // processes that it starts
)

// gone is how long all that belonged to a program may outlive it.
const gone = 3 * time.Second

func TestMain(m *testing.M) {
	if how := os.Getenv(envHelper); how != "" {
		help(how)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// helped is what the program tells about itself.
type helped struct {
	Dir        string
	Supervisor int
	PIDs       []int
}

// help is the program: it starts a few processes, tells of them and ends.
func help(how string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	s, err := Current()
	fail(err)
	told := helped{Dir: s.Dir}
	for range helperSize {
		// The shell's child is what a start script's java would be.
		p, err := s.Start(Command{Args: []string{"sh", "-c", "sleep 300 & sleep 301; true"}, Dir: s.Dir, Log: filepath.Join(s.Dir, "log")})
		fail(err)
		told.PIDs = append(told.PIDs, p.PID)
	}
	told.Supervisor, err = parentOf(told.PIDs[0])
	fail(err)
	fail(json.NewEncoder(os.Stdout).Encode(told))
	switch how {
	case endPanic:
		panic("the test panicked")
	case endExit:
		os.Exit(3)
	case endReturn:
		return
	}
	select {}
}

func parentOf(pid int) (int, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	// pid (name) state ppid
	_, rest, _ := strings.Cut(string(text), ") ")
	return strconv.Atoi(strings.Fields(rest)[1])
}

// startHelper starts the program with a directory of sessions of its own.
func startHelper(t *testing.T, root, how string) (*exec.Cmd, helped) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc here")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envHelper+"="+how, "TMPDIR="+root)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	var told helped
	require.NoError(t, json.Unmarshal(line, &told))
	require.Len(t, told.PIDs, helperSize)
	return cmd, told
}

// alive are the processes of these groups that still run.
func alive(pids []int) []int {
	var still []int
	for _, pid := range pids {
		if syscall.Kill(-pid, 0) == nil {
			still = append(still, pid)
		}
	}
	return still
}

func requireGone(t *testing.T, told helped) {
	t.Helper()
	require.Eventually(t, func() bool { return len(alive(told.PIDs)) == 0 }, gone, 10*time.Millisecond, "processes are left")
	require.Eventually(t, func() bool {
		_, err := os.Stat(told.Dir)
		return os.IsNotExist(err)
	}, gone, 10*time.Millisecond, "the session's directory is left")
}
