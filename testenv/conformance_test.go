package testenv

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/settings"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// subject is a running broker with what the suite has to know of its kind.
type subject struct {
	broker *Broker
	// change is what it is restarted with; none is a plain restart.
	change Change
	// put stores something, and kept succeeds if it is still there.
	put, kept Probe
	// write writes something more to the disk, each time.
	write Probe
	// started is a text that each node logs exactly once a start.
	started func(node string) string
	// wide are the nodes' own addresses of ports that are open on every interface,
	// because the broker has no setting for them.
	wide []string
}

// handshake is a client's first round trip at every link.
func (s subject) handshake(ctx context.Context) error { return errors.Join(s.broker.greets(ctx)...) }

// kinds are the brokers there are.
var kinds = map[string]func(e *Env) subject{
	"pulsar":               startPulsarSubject,
	"kafka":                startKafkaSubject,
	"kafka with zookeeper": startOldKafkaSubject,
	"rocketmq":             startRocketMQSubject,
}

// TestEveryRuntimeRunsEveryBrokerAlike is the promise that a verdict does not
// depend on where the broker ran.
func TestEveryRuntimeRunsEveryBrokerAlike(t *testing.T) {
	inEveryRuntime(t, kinds, conforms)
}

// inEveryRuntime runs a test of each kind in each runtime, those of one side by side: they
// wait most of the time. The end of each is its clean-up, which is looked at afterwards.
func inEveryRuntime[K any](t *testing.T, kinds map[string]K, run func(t *testing.T, place string, kind K)) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts brokers")
	}
	for _, place := range places(t) {
		t.Run("in a "+place, func(t *testing.T) {
			t.Setenv("BROKERFAULT_BACKEND", place)
			requireRuntime(t)
			t.Run("runs", func(t *testing.T) {
				for name, kind := range kinds {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						run(t, place, kind)
					})
				}
			})
			requireNothingLeft(t, place)
		})
	}
}

// requireRuntime skips where the runtime is not there, unless everything has to run.
func requireRuntime(t *testing.T) {
	t.Helper()
	s, err := settings.FromEnvironment()
	require.NoError(t, err)
	if _, err := runtimeOf(t.Context(), s); err != nil {
		if s.Require {
			t.Fatalf("BROKERFAULT_REQUIRE=1, but: %v", err)
		}
		t.Skip(err)
	}
}

// conforms is the suite. Its steps share one broker and stand in an order, so
// the first that fails ends it.
func conforms(t *testing.T, place string, start func(*Env) subject) {
	e := New(t, Case{Name: "testenv/conformance", Claim: "a runtime does what scenarios rely on"})
	s := start(e)
	b := s.broker
	steps := []struct {
		claim string
		run   func(t *testing.T)
	}{
		{"answers at the address it advertises", func(*testing.T) {
			e.Within("a handshake succeeds", 5*time.Second, s.handshake)
			e.Within("something is stored", 30*time.Second, s.put)
			e.Within("it is there", 10*time.Second, s.kept)
		}},
		{"listens on loopback only", func(t *testing.T) { requireLoopbackOnly(t, place, s) }},
		{"keeps its files to itself", func(t *testing.T) { requireOwnFiles(t, place, b) }},
		{"keeps address, data and log over a restart", func(t *testing.T) {
			before, log := addresses(b), readLogs(t, b)
			if len(s.change.Config) > 0 {
				e.Inject(b.RestartWith(s.change))
			} else {
				e.Inject(b.Restart())
			}
			e.Recovers("a handshake succeeds", 5*time.Second, s.handshake)
			e.Within("what was stored is there", 30*time.Second, s.kept)
			require.Equal(t, before, addresses(b))
			requireLinesOnce(t, log, readLogs(t, b))
			requireStarts(t, b, s.started, 2)
		}},
		{"keeps address and data over a kill", func(t *testing.T) {
			before := addresses(b)
			killed := e.Inject(b.Kill())
			require.Error(t, s.handshake(t.Context()))
			requireNoBareEnd(t, b, killed.Heal)
			e.Recovers("a handshake succeeds", 5*time.Second, s.handshake)
			e.Within("what was stored is there", 30*time.Second, s.kept)
			require.Equal(t, before, addresses(b))
			requireStarts(t, b, s.started, 3)
		}},
		{"keeps address and data over a stop", func(t *testing.T) {
			before := addresses(b)
			stopped := e.Inject(b.Stop())
			require.Error(t, s.handshake(t.Context()))
			stopped.Heal()
			e.Recovers("a handshake succeeds", 5*time.Second, s.handshake)
			e.Within("what was stored is there", 30*time.Second, s.kept)
			require.Equal(t, before, addresses(b))
			requireStarts(t, b, s.started, 4)
		}},
		{"is deaf while paused, with the same process after", func(t *testing.T) {
			paused := e.Inject(b.Pause())
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			require.ErrorIs(t, s.handshake(ctx), os.ErrDeadlineExceeded, "its port stays open, but nobody answers")
			paused.Heal()
			e.Recovers("a handshake succeeds", 10*time.Second, s.handshake)
			e.Within("what was stored is there", 30*time.Second, s.kept)
			requireStarts(t, b, s.started, 4)
		}},
		{"resets connections while cut", func(t *testing.T) {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addresses(b)[0])
			require.NoError(t, err)
			defer conn.Close()
			cut := e.Inject(b.Cut())
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
			_, err = conn.Read(make([]byte, 1))
			require.ErrorContains(t, err, "reset")
			cut.Heal()
			e.Recovers("a handshake succeeds", 5*time.Second, s.handshake)
		}},
		{"is hurt and healed at its links", func(t *testing.T) {
			for _, name := range slices.Sorted(maps.Keys(linkFaults)) {
				e.Inject(linkFaults[name](b)).Heal()
				e.Recovers("a handshake succeeds", 5*time.Second, s.handshake)
			}
			at, err := b.linkPorts()
			require.NoError(t, err)
			conn, err := at[0].connect(t.Context())
			require.NoError(t, err)
			defer conn.Close()
			e.Inject(b.ResetConnections())
			require.NoError(t, wasReset(conn))
			e.Recovers("a handshake succeeds", 5*time.Second, s.handshake)
		}},
		{"tells its threads", func(t *testing.T) {
			for _, n := range b.nodes {
				text, err := dumpThreads(t.Context(), n)
				require.NoError(t, err)
				require.True(t, strings.HasPrefix(text, "Full thread dump"), text)
			}
		}},
	}
	for _, step := range steps {
		ok := t.Run(step.claim, func(inner *testing.T) {
			// The Env fails the test that runs, on whose goroutine it is.
			e.t = inner
			defer func() { e.t = t }()
			step.run(inner)
		})
		if !ok {
			return
		}
	}
}

// requireNoBareEnd wants no connection that is made while something happens to be ended
// without a byte: a broker that does not listen yet refuses, in every runtime, and a client
// may take such an end for a wrong configuration, as franz-go does.
func requireNoBareEnd(t *testing.T, b *Broker, happens func()) {
	t.Helper()
	ctx, over := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	var ended, refused atomic.Int64
	for _, address := range addresses(b) {
		watch.Go(func() {
			for ctx.Err() == nil {
				err := firstByte(ctx, address)
				switch {
				case errors.Is(err, io.EOF):
					ended.Add(1)
				case errors.Is(err, syscall.ECONNRESET):
					refused.Add(1)
				}
			}
		})
	}
	happens()
	over()
	watch.Wait()
	require.Zero(t, ended.Load(), "connections ended without a byte")
	require.NotZero(t, refused.Load(), "connections were refused while nobody listened")
}

// firstByte waits for a moment for what a server that was told nothing says.
func firstByte(ctx context.Context, address string) error {
	const moment = 20 * time.Millisecond
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(moment)); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}

// addresses are those of the links, in a fixed order.
func addresses(b *Broker) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(b.links)) {
		all = append(all, b.links[name].Address())
	}
	return all
}

func readLogs(t *testing.T, b *Broker) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, n := range b.nodes {
		text, err := os.ReadFile(n.LogFile())
		require.NoError(t, err)
		all[n.Name()] = string(text)
	}
	return all
}

// requireLinesOnce wants the later log to go on where the earlier one ended,
// and no line of the earlier one, which its time makes unique, to come again.
func requireLinesOnce(t *testing.T, earlier, later map[string]string) {
	t.Helper()
	for node, before := range earlier {
		require.True(t, strings.HasPrefix(later[node], before), "the log of %s was written anew", node)
		seen := map[string]bool{}
		for line := range strings.Lines(before) {
			// Continuation lines, such as a stack's, have no time.
			if len(line) > 10 && strings.HasPrefix(line, time.Now().Format("2006-")) {
				seen[line] = true
			}
		}
		require.Greater(t, len(seen), 20, "the log of %s has the broker's lines", node)
		for line := range strings.Lines(strings.TrimPrefix(later[node], before)) {
			require.False(t, seen[line], "the log of %s has a line again: %s", node, line)
		}
	}
}

func requireStarts(t *testing.T, b *Broker, text func(node string) string, want int) {
	t.Helper()
	for node, log := range readLogs(t, b) {
		require.Equal(t, want, strings.Count(log, text(node)), "%q in the log of %s", text(node), node)
	}
}

// requireNothingLeft looks for what a clean-up has to have removed.
func requireNothingLeft(t *testing.T, place string) {
	t.Helper()
	session, err := supervisor.Current()
	require.NoError(t, err)
	require.Empty(t, sessionProcesses(t))
	entries, err := os.ReadDir(session.Dir)
	require.NoError(t, err)
	for _, entry := range entries {
		require.False(t, entry.IsDir(), "the session directory still has %s", entry.Name())
	}
	if place == "container" {
		containers, networks, volumes := sessionContainers(t)
		require.Empty(t, containers)
		require.Empty(t, networks)
		require.Empty(t, volumes)
	}
}

// places are the runtimes that there are, or the one that BROKERFAULT_BACKEND names.
func places(t *testing.T) []string {
	t.Helper()
	s, err := settings.FromEnvironment()
	require.NoError(t, err)
	if s.Backend != "auto" {
		return []string{s.Backend}
	}
	return []string{"process", "container"}
}
