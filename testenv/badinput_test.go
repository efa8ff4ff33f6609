package testenv

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// badInputConfig makes this test binary run the scenario below, with these
// settings of the broker (JSON).
const badInputConfig = "BADINPUT_CONFIG"

// TestBadInput is the scenario that the tests of bad input run in a process of their own.
func TestBadInput(t *testing.T) {
	given, is := os.LookupEnv(badInputConfig)
	if !is {
		t.Skip("it is run by the tests of bad input")
	}
	var config map[string]string
	require.NoError(t, json.Unmarshal([]byte(given), &config))
	e := New(t, Case{Name: "testenv/bad-input"})
	e.StartPulsar(PulsarSpec{Config: config})
	e.NotRun("the broker started")
}

// badInput runs the scenario with these environment variables on top and
// returns what it printed. It has to fail within the limit.
func badInput(t *testing.T, limit time.Duration, config map[string]string, env ...string) string {
	t.Helper()
	given, err := json.Marshal(config)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestBadInput$", "-test.v")
	cmd.Env = append(append(os.Environ(), badInputConfig+"="+string(given), "TMPDIR="+t.TempDir()), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, ctx.Err(), "it did not end within %v: %s", limit, out)
	require.Error(t, err, string(out))
	require.Contains(t, string(out), "=== ATTR  TestBadInput verdict environment\n")
	require.Contains(t, string(out), "environment: ", "the message says whose fault it is not")
	return string(out)
}

// noEngine points at an engine that does not answer.
func noEngine(t *testing.T) string {
	t.Helper()
	return "DOCKER_HOST=unix://" + filepath.Join(t.TempDir(), "no.sock")
}

// withJava is a PATH that has nothing but java.
func withJava(t *testing.T) string {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	require.NoError(t, os.Symlink(java, filepath.Join(dir, "java")))
	return "PATH=" + dir
}

func TestNeitherDockerNorJavaNamesBothWays(t *testing.T) {
	out := badInput(t, 10*time.Second, nil, "BROKERFAULT_BACKEND=auto", "PATH=", noEngine(t))
	for _, want := range []string{
		"nowhere to run a broker; a container engine or Java 17 with Maven is needed",
		"container: no container engine answers at DOCKER_HOST=", "start Docker",
		"process: no java that runs the brokers: java is not in PATH", "install Java 17",
	} {
		require.Contains(t, out, want)
	}
}

func TestJavaWithoutMavenIsNoWayEither(t *testing.T) {
	out := badInput(t, 15*time.Second, nil, "BROKERFAULT_BACKEND=auto", withJava(t), noEngine(t))
	require.Contains(t, out, "nowhere to run a broker")
	require.Contains(t, out, "process: maven is not on this machine")
}

func TestOldJavaIsNamed(t *testing.T) {
	for printed, want := range map[string]string{
		`openjdk version "11.0.22" 2024-01-16`: "is Java 11: install Java 17 or newer",
		`java version "1.8.0_402"`:             "is Java 8: install Java 17 or newer",
		"no version at all":                    "does not tell a version",
	} {
		t.Run(want, func(t *testing.T) {
			dir := t.TempDir()
			script := "#!/bin/sh\necho '" + printed + "' >&2\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, "java"), []byte(script), 0o755))
			out := badInput(t, 10*time.Second, nil, "BROKERFAULT_BACKEND=process", "PATH="+dir)
			require.Contains(t, out, want)
		})
	}
}

func TestColdCacheWithoutMavenSaysWhatToInstall(t *testing.T) {
	out := badInput(t, 15*time.Second, nil, "BROKERFAULT_BACKEND=process", "BROKERFAULT_CACHE="+t.TempDir(), withJava(t))
	require.Contains(t, out, "maven is not on this machine")
	require.Contains(t, out, "install Maven 3.6 or newer, or let Docker do it with BROKERFAULT_BACKEND=container")
}

func TestCacheThatCannotBeWrittenIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	out := badInput(t, 15*time.Second, nil, "BROKERFAULT_BACKEND=process", "BROKERFAULT_CACHE="+file, withJava(t))
	require.Contains(t, out, `write the cache directory "`+file+`"`)
	require.Contains(t, out, "name another directory with BROKERFAULT_CACHE")
}

func TestBadSettingIsNamedWithWhatItTakes(t *testing.T) {
	for entry, want := range map[string]string{
		"BROKERFAULT_BACKED=process": "BROKERFAULT_BACKED is no setting; there are BROKERFAULT_BACKEND",
		"BROKERFAULT_SCALE=fast":     `BROKERFAULT_SCALE="fast": it takes a number from 1 to 100`,
		"BROKERFAULT_BACKEND=podman": `BROKERFAULT_BACKEND="podman": it takes auto, container or process`,
		"BROKERFAULT_PULSAR=latest":  `BROKERFAULT_PULSAR="latest": it takes a version`,
	} {
		t.Run(entry, func(t *testing.T) {
			require.Contains(t, badInput(t, 10*time.Second, nil, entry), want)
		})
	}
}

func TestVersionThatDoesNotExistComesWithMavensWords(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks Maven's repository")
	}
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	out := badInput(t, 2*time.Minute, nil, "BROKERFAULT_BACKEND=process", "BROKERFAULT_PULSAR=2.99.99", "BROKERFAULT_CACHE="+t.TempDir())
	require.Contains(t, out, "get the jars of ")
	require.Contains(t, out, "2.99.99")
	require.Contains(t, out, "do not have this version")
}

func TestBrokerThatDiesWhileStartingShowsItsLastLines(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts brokers")
	}
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	for name, test := range map[string]struct{ place, port, want string }{
		"bad value in a process":   {"process", "nonsense", "nonsense"},
		"bad value in a container": {"container", "nonsense", "nonsense"},
		"port in use in a process": {"process", port, "Address already in use"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("BROKERFAULT_BACKEND", test.place)
			requireRuntime(t)
			// That the end was noticed, and not the limit of the readiness, the message says.
			out := badInput(t, 5*time.Minute, map[string]string{"brokerServicePort": test.port})
			require.Contains(t, out, "pulsar ended unasked (exit status 1); its last lines:")
			require.Contains(t, out, test.want)
		})
	}
}
