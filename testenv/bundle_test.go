package testenv

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// fakeNode is a node without a JVM.
type fakeNode struct {
	runtime.Node

	log    string
	dumped string
	err    error
	launch func() broker.Launch
}

func (n *fakeNode) Name() string                { return "kafka-1" }
func (n *fakeNode) LogFile() string             { return n.log }
func (n *fakeNode) Where() string               { return "the image" }
func (n *fakeNode) Close(context.Context) error { return nil }

func (n *fakeNode) Launch() broker.Launch {
	if n.launch != nil {
		return n.launch()
	}
	return broker.Launch{
		JVM:   []string{"-Xmx320m"},
		Main:  broker.Program{Class: "kafka.Kafka", Args: []string{"server.properties"}},
		Files: map[string]string{"server.properties": "node.id=1\n", "tls.key": "SECRET\n"},
	}
}

func (n *fakeNode) DumpThreads(context.Context) error {
	if n.err != nil {
		return n.err
	}
	return n.say(n.dumped)
}

func (n *fakeNode) say(text string) error {
	f, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

const wholeDump = "2026-01-02 03:04:05\nFull thread dump OpenJDK:\n\"main\" #1\n\nJNI global refs: 15, weak refs: 0\n"

// withFake gives an Env a broker that consists of the fake.
func withFake(e *Env, n *fakeNode) {
	e.runtime = "process"
	e.brokers = append(e.brokers, &Broker{
		env: e, holder: &holder{env: e}, name: "kafka", nodes: []runtime.Node{n},
		plan: plan{name: "kafka", version: "3.5.1", setting: "BROKERFAULT_KAFKA=3.5.1"},
	})
}

// bundled runs a scenario with BROKERFAULT_KEEP=1 and returns its bundle's directory, which
// is one of go test's own where that was asked for artifacts.
func bundled(t *testing.T, run func(tb testing.TB)) (*double, string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("BROKERFAULT_KEEP", "1")
	d, _ := scenario(t, run)
	_, dir, found := strings.Cut(d.text(), "evidence: ")
	require.True(t, found, d.text())
	dir, _, _ = strings.Cut(dir, "\n")
	require.DirExists(t, dir)
	return d, dir
}

func file(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

func TestFailureLeavesABundle(t *testing.T) {
	n := &fakeNode{log: filepath.Join(t.TempDir(), "kafka-1.log"), dumped: wholeDump}
	d, dir := bundled(t, func(tb testing.TB) {
		e := New(tb, Case{Name: "testenv/double", Claim: "it sends"})
		withFake(e, n)
		require.NoError(t, n.say("2026-01-02 03:04:05,678 ERROR [t] A - before 1\n"))
		_, _ = e.Log("client").Write([]byte("reconnecting\n"))
		e.Inject(harmless).Heal()
		require.NoError(t, n.say("2026-01-02 03:04:06,678 ERROR [t] A - before 2\n2026-01-02 03:04:06,678 ERROR [t] A - after 3\n"))
		e.Recovers("it sends", short, times)
	})
	d.requireVerdict(t, "not recovered")

	require.Regexp(t, `^started .*\n +0\.\d{3}s  case     testenv/double: it sends\n`, file(t, dir, "timeline.txt"))
	require.Contains(t, file(t, dir, "timeline.txt"), "probe    fails: message send timeout")
	require.Equal(t, "reconnecting\n", file(t, dir, "client.log"))
	require.Contains(t, file(t, dir, "broker-kafka-1.log"), "before 1")
	since := file(t, dir, "broker-kafka-1-since-fault.log")
	require.NotContains(t, since, "before 1")
	require.Contains(t, since, "before 2")
	require.Equal(t, "1x (and 1x before the fault):\n2026-01-02 03:04:06,678 ERROR [t] A - before 2\n\n"+
		"1x:\n2026-01-02 03:04:06,678 ERROR [t] A - after 3\n\n", file(t, dir, "broker-kafka-1-errors.txt"))
	require.Equal(t, wholeDump[len("2026-01-02 03:04:05\n"):], file(t, dir, "threads-kafka-1.txt"))
	require.Contains(t, file(t, dir, "goroutines.txt"), "TestFailureLeavesABundle", "it was taken before the test's goroutine ended")
	config := file(t, dir, "config-kafka-1.txt")
	require.Contains(t, config, "\n\njava -Xmx320m -cp ... kafka.Kafka server.properties\n")
	require.Contains(t, config, "---- server.properties\nnode.id=1\n")
	require.NotContains(t, config, "SECRET")

	summary := file(t, dir, "summary.txt")
	const replay = "BROKERFAULT_KAFKA=3.5.1 BROKERFAULT_BACKEND=process go test -run '^double$' -count=1 ./testenv"
	for _, want := range []string{
		"verdict   not recovered (at fault: unknown)\n", "reason    it sends: not within 200ms", "broker    kafka 3.5.1\n",
		"runs on   process: the image\n", "replay    " + replay + "\n", "threads-kafka-1.txt",
	} {
		require.Contains(t, summary, want)
	}
	require.NotContains(t, summary, "Not to be had")
	require.Contains(t, d.text(), "replay: "+replay)
	require.Contains(t, d.text(), "evidence: "+dir)
}

func TestBundleOfABrokerThatCannotTellIsMadeAllTheSame(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	n := &fakeNode{
		log: filepath.Join(t.TempDir(), "never-started.log"), err: errors.New("it is paused"),
		launch: func() broker.Launch { <-release; return broker.Launch{} },
	}
	d, dir := bundled(t, func(tb testing.TB) {
		e := New(tb, Case{})
		withFake(e, n)
		e.Inject(harmless).Heal()
		e.Recovers("it sends", short, times)
	})
	d.requireVerdict(t, "not recovered")
	summary := file(t, dir, "summary.txt")
	require.Regexp(t, `threads-kafka-1\.txt .*: it is paused\n`, summary)
	require.Regexp(t, `broker-kafka-1\.log .*: open .*: no such file or directory\n`, summary)
	require.Regexp(t, `config-kafka-1\.txt .*: .*did not return`, summary)
}

func TestPassLeavesNoBundleWithoutBeingAsked(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("BROKERFAULT_KEEP", "1")
	scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Inject(harmless).Heal()
		e.Recovers("it sends", 5*time.Second, succeeds)
	})
	all, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, all)
}

// bundleScenario makes this test binary run the scenario below.
const bundleScenario = "BUNDLE_SCENARIO"

func TestBundleScenario(t *testing.T) {
	if os.Getenv(bundleScenario) == "" {
		t.Skip("it is run by the tests of bundles")
	}
	e := New(t, Case{Name: "testenv/panic"})
	e.Inject(harmless)
	if os.Getenv(bundleScenario) == "panic" {
		panic("index out of range")
	}
	e.Within("it never comes", time.Hour, times)
}

// inOwnProcess runs the scenario with -artifacts and returns what it printed and its bundle.
func inOwnProcess(t *testing.T, what string, flags ...string) (string, string) {
	t.Helper()
	out := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	args := append([]string{"-test.run", "^TestBundleScenario$", "-test.v", "-test.artifacts", "-test.outputdir", out}, flags...)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), bundleScenario+"="+what)
	printed, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", printed)
	require.NoError(t, ctx.Err(), "%s", printed)
	found, err := filepath.Glob(filepath.Join(out, "_artifacts", "*", "summary.txt"))
	require.NoError(t, err)
	require.Len(t, found, 1, "%s", printed)
	return string(printed), filepath.Dir(found[0])
}

func TestPanicLeavesABundle(t *testing.T) {
	printed, dir := inOwnProcess(t, "panic")
	require.Contains(t, printed, "panic: index out of range")
	require.Contains(t, printed, "replay: go test -run '^TestBundleScenario$' -count=1 ./testenv\n")
	require.Contains(t, file(t, dir, "summary.txt"), "verdict   not recovered (at fault: unknown)")
	require.Contains(t, file(t, dir, "goroutines.txt"), "bundle_test.go")
}

func TestTestIsGivenUpBeforeItsTimeoutAndLeavesABundle(t *testing.T) {
	t.Parallel()
	printed, dir := inOwnProcess(t, "slow", "-test.timeout=10s") // a second of it is the grace
	require.NotContains(t, printed, "panic: test timed out")
	require.Contains(t, printed, "=== ATTR  TestBundleScenario verdict environment\n")
	summary := file(t, dir, "summary.txt")
	require.Contains(t, summary, "verdict   environment\n")
	require.Regexp(t, `go test's -timeout is over in \d+`, summary)
	require.Contains(t, summary, "last: message send timeout")
	require.Contains(t, file(t, dir, "timeline.txt"), "heal the quota is exceeded: done")
}
