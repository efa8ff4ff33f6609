package testenv

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/settings"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

const (
	// chaosSuite makes this test binary run the suite that is killed: "victim", which
	// goes round until it is ended, or "bystander", which ends when its input does.
	chaosSuite = "CHAOS_SUITE"
	// chaosPanics is when a victim panics by itself.
	chaosPanics = "CHAOS_PANICS"
	// goneWithin is how soon after the end nothing may be left.
	goneWithin = 10 * time.Second
	// longestLife is when at the latest a suite is ended: its broker is up and has
	// been through its faults by then.
	longestLife = 8 * time.Second
)

// endings are the ways in which a suite ends without its own clean-up.
var endings = []string{"kill", "interrupt", "terminate", "panic", "timeout"}

func TestChaosSuite(t *testing.T) {
	role := os.Getenv(chaosSuite)
	if role == "" {
		t.Skip("it is run by TestNothingIsLeftOfAKilledSuiteAndAnotherIsUntouched")
	}
	session, err := supervisor.Current()
	require.NoError(t, err)
	fmt.Printf("session %s\n", session.Dir)
	if after, err := time.ParseDuration(os.Getenv(chaosPanics)); err == nil {
		time.AfterFunc(after, func() { panic("chaos") })
	}
	e := New(t, Case{Name: "testenv/chaos", Claim: "a broker comes back", Shares: role == "victim"})
	spec := KafkaSpec{}
	if os.Getenv("BROKERFAULT_BACKEND") == "container" {
		spec.DataLimit = 256 << 20 // there is more to be left behind then
	}
	k := e.StartKafka(spec)
	ready := func(ctx context.Context) error { return k.answers(ctx) }
	if role == "bystander" {
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		e.Inject(k.Pause()).Heal()
		e.Recovers("the broker answers", 30*time.Second, ready)
		return
	}
	for round := 0; ; round++ {
		fault := []func() Fault{k.Cut, k.Pause, k.Kill}[round%3]
		e.Inject(fault()).Heal()
		e.Recovers("the broker answers", 30*time.Second, ready)
	}
}

// TestNothingIsLeftOfAKilledSuiteAndAnotherIsUntouched ends suites at random moments of
// their lives, in every way, while another one goes on beside them. Each way once in each
// runtime by default, fifty suites in all with BROKERFAULT_PROFILE=full.
func TestNothingIsLeftOfAKilledSuiteAndAnotherIsUntouched(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts brokers")
	}
	s, err := settings.FromEnvironment()
	require.NoError(t, err)
	t.Setenv("TMPDIR", t.TempDir())
	all := places(t)
	rounds := len(endings)
	if s.Profile == "full" {
		rounds = 50 / len(all)
	}
	for _, place := range all {
		t.Run("in a "+place, func(t *testing.T) {
			t.Setenv("BROKERFAULT_BACKEND", place)
			requireRuntime(t)
			bystander := startSuite(t, exec.Command(os.Args[0], chaosFlags...), "bystander")
			bystander.await(t, "ready")
			require.GreaterOrEqual(t, len(leftOf(t, bystander, place)), 3, "what is there is not found")
			for i := range rounds {
				ending, after := endings[i%len(endings)], rand.N(longestLife)
				victim := startVictim(t, ending, after)
				require.Error(t, victim.ends(t))
				requireGone(t, victim, place, fmt.Sprintf("%s after %v", ending, after))
			}
			require.NoError(t, bystander.input.Close())
			require.NoError(t, bystander.ends(t), "the suite beside: %s", bystander.printed.String())
			requireGone(t, bystander, place, "its own end")
			t.Logf("%d suites ended in %d ways, leaks found: 0; one beside them passed", rounds, len(endings))
		})
	}
}

// suite is a running test binary.
type suite struct {
	cmd     *exec.Cmd
	role    string
	input   io.Closer
	lines   chan string
	printed strings.Builder
	session string // its directory, once it has said so
}

var signals = map[string]os.Signal{"kill": syscall.SIGKILL, "interrupt": syscall.SIGINT, "terminate": syscall.SIGTERM}

var chaosFlags = []string{"-test.run", "^TestChaosSuite$", "-test.v"}

// startVictim starts a suite that is ended after a while.
func startVictim(t *testing.T, ending string, after time.Duration) *suite {
	t.Helper()
	cmd := exec.Command(os.Args[0], chaosFlags...)
	switch ending {
	case "panic":
		cmd.Env = append(cmd.Env, chaosPanics+"="+after.String())
	case "timeout":
		cmd.Args = append(cmd.Args, "-test.timeout="+after.String())
	}
	s := startSuite(t, cmd, "victim")
	if by := signals[ending]; by != nil {
		time.AfterFunc(after, func() { _ = cmd.Process.Signal(by) })
	}
	return s
}

func startSuite(t *testing.T, cmd *exec.Cmd, role string) *suite {
	t.Helper()
	cmd.Env = append(append(os.Environ(), chaosSuite+"="+role), cmd.Env...)
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	s := &suite{cmd: cmd, role: role, input: input, lines: make(chan string)}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	go func() {
		defer close(s.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.lines <- lines.Text()
		}
	}()
	return s
}

// next is the next line that it prints, until it has ended.
func (s *suite) next(t *testing.T) (line string, more bool) {
	t.Helper()
	select {
	case line, more = <-s.lines:
	case <-time.After(2 * time.Minute):
		t.Fatalf("it says nothing more and does not end: %s", s.printed.String())
	}
	s.printed.WriteString(line + "\n")
	if dir, is := strings.CutPrefix(line, "session "); is {
		s.session = dir
	}
	return line, more
}

// await reads until it prints a line.
func (s *suite) await(t *testing.T, want string) {
	t.Helper()
	for line, more := s.next(t); line != want; line, more = s.next(t) {
		require.True(t, more, "it ended before it said %q: %s", want, s.printed.String())
	}
}

// ends reads until it has ended, and returns how it did.
func (s *suite) ends(t *testing.T) error {
	t.Helper()
	for _, more := s.next(t); more; {
		_, more = s.next(t)
	}
	return s.cmd.Wait()
}

// requireGone wants no process, directory, container, network or volume of a suite that has ended.
func requireGone(t *testing.T, s *suite, place, how string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(leftOf(t, s, place)) == 0 }, goneWithin, 100*time.Millisecond,
		"left %v after its end (%s): %v", goneWithin, how, leftOf(t, s, place))
}

func leftOf(t *testing.T, s *suite, place string) []string {
	t.Helper()
	var left []string
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, environ := range all {
		text, err := os.ReadFile(environ)
		if err == nil && bytes.Contains(text, []byte("\x00"+chaosSuite+"="+s.role+"\x00")) && bytes.Contains(text, []byte(os.Getenv("TMPDIR"))) {
			left = append(left, "process "+filepath.Base(filepath.Dir(environ)))
		}
	}
	if s.session == "" {
		return left // it had none yet
	}
	if _, err := os.Stat(s.session); err == nil {
		left = append(left, "directory "+s.session)
	}
	if place != "container" {
		return left
	}
	engine, err := client.New(client.FromEnv)
	require.NoError(t, err)
	defer engine.Close()
	filters := make(client.Filters).Add("label", supervisor.Label+"="+filepath.Base(s.session))
	containers, err := engine.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: filters})
	require.NoError(t, err)
	for _, c := range containers.Items {
		left = append(left, "container "+c.ID)
	}
	networks, err := engine.NetworkList(t.Context(), client.NetworkListOptions{Filters: filters})
	require.NoError(t, err)
	for _, n := range networks.Items {
		left = append(left, "network "+n.ID)
	}
	volumes, err := engine.VolumeList(t.Context(), client.VolumeListOptions{Filters: filters})
	require.NoError(t, err)
	for _, v := range volumes.Items {
		left = append(left, "volume "+v.Name)
	}
	return left
}
