package container

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

func TestMain(m *testing.M) {
	if os.Getenv("ASK_FOR_AN_ENGINE") != "" {
		begun := time.Now()
		err := Answers(context.Background())
		fmt.Println(time.Since(begun).Milliseconds(), "ms:", err)
		os.Exit(0)
	}
	// The supervisor's connection lasts as long as the process.
	if _, err := supervisor.Current(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// stuck is an engine that takes connections and never answers.
func stuck(t *testing.T) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "engine")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return "unix://" + socket
}

// testcontainers-go finds the engine once a process, so each answer is asked
// for in a process of its own.
func TestAnswersSaysAtOnceWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ host, want string }{
		"stuck":     {stuck(t), "no container engine answers: not at once: context deadline exceeded"},
		"absent":    {"unix:///nowhere", "no container engine answers"},
		"elsewhere": {"tcp://192.0.2.1:2375", "no container engine answers"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "ASK_FOR_AN_ENGINE=1", "DOCKER_HOST="+c.host, "HOME="+t.TempDir())
			begun := time.Now()
			out, err := cmd.CombinedOutput()
			require.NoError(t, err)
			require.Less(t, time.Since(begun), 2*answerLimit)
			t.Logf("%s", out)
			require.Contains(t, string(out), c.want)
			require.Contains(t, string(out), "BROKERFAULT_BACKEND=process")
		})
	}
}

func TestEngineElsewhereIsRefused(t *testing.T) {
	for _, host := range []string{"unix:///var/run/docker.sock", "tcp://127.0.0.1:2375", "tcp://localhost:2375", "tcp://[::1]:2375"} {
		require.NoError(t, onThisMachine(host), host)
	}
	for _, host := range []string{"tcp://192.0.2.1:2375", "ssh://me@example.org"} {
		require.ErrorIs(t, onThisMachine(host), ErrNoEngine, host)
	}
}

func TestNothingHangsOnAStuckEngine(t *testing.T) {
	engine, err := client.New(client.WithHost(stuck(t)))
	require.NoError(t, err)
	n := &node{
		placement: &placement{Runtime: &Runtime{engine: engine, base: "base", cache: &dist.Cache{Dir: t.TempDir()}}, open: 1, network: "none"},
		node:      broker.Node{Name: "a", Launch: func(broker.Site) broker.Launch { return broker.Launch{} }},
		container: "none", log: filepath.Join(t.TempDir(), "log"), made: true,
		run: &run{over: make(chan struct{}), cancel: func() {}},
	}
	limited := func(call func(ctx context.Context) error) error {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		return call(ctx)
	}
	for name, call := range map[string]func(context.Context) error{
		"kill": n.Kill, "pause": n.Pause, "resume": n.Resume, "dump": n.DumpThreads, "close": n.Close, "begin": n.begin,
		"image": func(ctx context.Context) error {
			_, err := n.Runtime.image(ctx, zookeeperBill, t.Logf)
			return err
		},
	} {
		begun := time.Now()
		require.ErrorIs(t, limited(call), context.DeadlineExceeded, name)
		require.Less(t, time.Since(begun), time.Second, name)
	}
	require.NoError(t, engine.Close())
}

func TestMissingImagesAreNamedWithTheirSetting(t *testing.T) {
	r := newRuntime(t)
	missing := "brokerfault-no-such-image:1"
	noMaven := *r
	noMaven.cache = &dist.Cache{Dir: t.TempDir(), Maven: filepath.Join(t.TempDir(), "mvn"), Run: r.cache.Run}
	noMaven.maven = missing
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := noMaven.buildContext(ctx, zookeeperBill, t.Logf)
	t.Log(err)
	require.ErrorContains(t, err, `get the image "`+missing+`"`)

	r.base = missing
	_, err = r.image(ctx, zookeeperBill, t.Logf)
	t.Log(err)
	require.ErrorContains(t, err, `get the base image "`+missing+`"`)
	require.ErrorContains(t, err, "BROKERFAULT_BASE_IMAGE")
	require.NoError(t, r.engine.Close())
}
