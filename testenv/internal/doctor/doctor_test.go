package doctor

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
)

// envExamine makes this test binary a program that examines and prints JSON:
// testcontainers-go looks for an engine once a process.
const envExamine = "DOCTOR_TEST_EXAMINE"

func TestMain(m *testing.M) {
	if os.Getenv(envExamine) != "" {
		if err := json.NewEncoder(os.Stdout).Encode(Examine(context.Background())); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// bench is a machine of fakes: a PATH with these programs, and an engine at this address.
type bench struct {
	t            *testing.T
	path, engine string
	env          []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, path: t.TempDir(), engine: "unix:///nowhere.sock"}
	b.program("go", "echo go version go1.26.0 linux/amd64")
	b.program("java", `echo 'openjdk version "17.0.15" 2025-04-15' >&2`)
	b.program("mvn", "echo Apache Maven 3.9.9")
	return b
}

func (b *bench) program(name, text string) {
	b.t.Helper()
	require.NoError(b.t, os.WriteFile(filepath.Join(b.path, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
}

func (b *bench) without(name string) {
	b.t.Helper()
	require.NoError(b.t, os.Remove(filepath.Join(b.path, name)))
}

// examine gives the report, and each check by its name.
func (b *bench) examine() (Report, map[string]Check) {
	b.t.Helper()
	home := b.t.TempDir()
	cmd := exec.CommandContext(b.t.Context(), os.Args[0])
	cmd.Env = append([]string{
		envExamine + "=1", "PATH=" + b.path, "DOCKER_HOST=" + b.engine, "HOME=" + home, "TMPDIR=" + home,
	}, b.env...)
	cmd.Stderr = os.Stderr
	began := time.Now()
	out, err := cmd.Output()
	require.NoError(b.t, err, string(out))
	require.Less(b.t, time.Since(began), 2*limit)
	var r Report
	require.NoError(b.t, json.Unmarshal(out, &r))
	all := map[string]Check{}
	for _, c := range r.Checks {
		require.NotEmpty(b.t, c.Finding, c.Name)
		all[c.Name] = c
	}
	return r, all
}

// fakeEngine answers what a survey asks.
func fakeEngine(t *testing.T, images string) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "engine")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.44")
		w.Header().Set("Content-Type", "application/json")
		text := "{}"
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/version"):
			text = `{"Version":"99.1"}`
		case strings.HasSuffix(path, "/images/json"):
			text = images
		case strings.HasSuffix(path, "/containers/json"):
			text = `[{"Id":"a"}]`
		case strings.Contains(path, "/images/maven"):
			w.WriteHeader(http.StatusNotFound)
			text = `{"message":"no such image"}`
		}
		_, _ = w.Write([]byte(text))
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return "unix://" + socket
}

func TestAutoTakesProcessesWhereNoEngineAnswers(t *testing.T) {
	r, all := newBench(t).examine()
	require.True(t, r.Fit, "%+v", r)
	require.Equal(t, "process", r.Runtime)
	require.Contains(t, all["runtime"].Finding, "auto takes processes")
	require.Equal(t, Warn, all["engine"].Status)
	require.Contains(t, all["engine"].Finding, "no container engine answers at DOCKER_HOST=unix:///nowhere.sock")
	require.Contains(t, all["java"].Finding, "17.0.15, /")
	require.Contains(t, all["maven"].Finding, "Apache Maven 3.9.9, /")
	require.Contains(t, all["go"].Finding, "go1.26.0")
	for _, name := range []string{"settings", "java", "maven", "cache", "ports", "sessions"} {
		require.Equal(t, OK, all[name].Status, all[name])
	}
	require.Contains(t, r.Text(), "with brokers as processes")
}

func TestAutoTakesContainersWhereAnEngineAnswers(t *testing.T) {
	b := newBench(t)
	b.without("java")
	b.without("mvn")
	b.engine = fakeEngine(t, `[{"Id":"1","RepoTags":["brokerfault/kafka:3.9.2-abc"],"Size":1073741824},{"Id":"2","RepoTags":["<none>:<none>"],"Size":0}]`)
	r, all := b.examine()
	require.True(t, r.Fit, "%+v", r)
	require.Equal(t, "container", r.Runtime)
	require.Contains(t, all["engine"].Finding, "99.1 at "+b.engine+", found by DOCKER_HOST")
	require.Equal(t, Warn, all["java"].Status)
	require.Equal(t, Warn, all["maven"].Status)
	require.Contains(t, all["maven"].Finding, "build stage with the image maven:")
	require.Equal(t, "1 broker images, 1.0 GB: brokerfault/kafka:3.9.2-abc", all["images"].Finding)
	require.Contains(t, all["sessions"].Finding, "1 containers")
}

func TestEngineThatHangsIsToldAndNotWaitedFor(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "engine")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	b := newBench(t)
	b.engine = "unix://" + socket
	b.env = []string{"BROKERFAULT_BACKEND=container"}
	r, all := b.examine()
	require.False(t, r.Fit)
	require.Equal(t, Missing, all["engine"].Status)
	require.Contains(t, all["engine"].Finding, "not at once")
	require.Contains(t, all["runtime"].Finding, "container, by BROKERFAULT_BACKEND")
}

func TestProgramsThatHangAreNotWaitedFor(t *testing.T) {
	b := newBench(t)
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	b.program("java", sleep+" 15")
	b.program("mvn", sleep+" 15")
	r, all := b.examine()
	require.False(t, r.Fit)
	require.Contains(t, all["java"].Finding, "java -version does not end")
	require.Contains(t, all["maven"].Finding, "--version does not end")
}

func TestNowhereToRunNamesBothWays(t *testing.T) {
	b := newBench(t)
	b.program("java", `echo 'openjdk version "11.0.22" 2024-01-16' >&2`)
	b.without("mvn")
	r, all := b.examine()
	require.False(t, r.Fit)
	require.Empty(t, r.Runtime)
	for _, name := range []string{"runtime", "engine", "java", "maven"} {
		require.Equal(t, Missing, all[name].Status, name)
	}
	require.Contains(t, all["java"].Finding, "is Java 11: install Java 17 or newer")
	require.Contains(t, all["runtime"].Remedy, "start Docker, or install Java 17")
	require.Contains(t, r.Text(), "a run could not work")
}

func TestMavenIsNotNeededForWhatIsInTheCache(t *testing.T) {
	b := newBench(t)
	b.without("mvn")
	cache := &dist.Cache{Dir: filepath.Join(t.TempDir(), "cache"), Maven: "true", Run: func(_ context.Context, args []string, _, _ string) error {
		dir, _ := strings.CutPrefix(args[len(args)-1], "-DoutputDirectory=")
		// The smallest zip file: its end, and nothing in it.
		return os.WriteFile(filepath.Join(dir, "a.jar"), []byte("PK\x05\x06"+strings.Repeat("\x00", 18)), 0o600)
	}}
	b.env = []string{"BROKERFAULT_BACKEND=process", "BROKERFAULT_CACHE=" + cache.Dir}
	r, all := b.examine()
	require.False(t, r.Fit)
	require.Equal(t, Missing, all["maven"].Status)
	for broker, version := range map[string]string{"kafka": "3.9.2", "pulsar": "3.0.2", "rocketmq": "5.5.1"} {
		bill, err := dist.Named(broker, version)
		require.NoError(t, err)
		_, err = cache.Jars(t.Context(), bill)
		require.NoError(t, err)
	}
	r, all = b.examine()
	require.True(t, r.Fit, "%+v", r)
	require.Equal(t, Warn, all["maven"].Status)
	require.Contains(t, all["cache"].Finding, "3 distributions")
}

func TestBadSettingsAreAllNamed(t *testing.T) {
	b := newBench(t)
	b.env = []string{"BROKERFAULT_SCALE=fast", "BROKERFAULT_KAKFA=4.4.0"}
	r, all := b.examine()
	require.False(t, r.Fit)
	require.Equal(t, Missing, all["settings"].Status)
	require.Contains(t, all["settings"].Finding, `BROKERFAULT_SCALE="fast": it takes a number`)
	require.Contains(t, all["settings"].Finding, "BROKERFAULT_KAKFA is no setting")

	b.env = []string{"BROKERFAULT_KAFKA=4.4.0"}
	_, all = b.examine()
	require.Contains(t, all["settings"].Finding, "BROKERFAULT_KAFKA=4.4.0; brokers: kafka 4.4.0")
}

func TestDirectoriesThatCannotBeWrittenAreMissing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	b := newBench(t)
	b.env = []string{"BROKERFAULT_CACHE=" + filepath.Join(file, "cache"), "TMPDIR=" + file}
	r, all := b.examine()
	require.False(t, r.Fit)
	require.Equal(t, Missing, all["cache"].Status)
	require.Contains(t, all["cache"].Remedy, "BROKERFAULT_CACHE")
	require.Equal(t, Missing, all["temporary directory"].Status)
}

func TestLookingLeavesNothingBehind(t *testing.T) {
	b := newBench(t)
	cache := filepath.Join(t.TempDir(), "cache")
	b.env = []string{"BROKERFAULT_CACHE=" + cache}
	r, _ := b.examine()
	require.True(t, r.Fit)
	require.NoDirExists(t, cache)
	left, err := os.ReadDir(filepath.Dir(cache))
	require.NoError(t, err)
	require.Empty(t, left)
}
