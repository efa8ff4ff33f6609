package container

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

func TestRestartKeepsDataAndTellsNoDeath(t *testing.T) {
	r := newRuntime(t)
	nodes, d := place(t, r, 1)
	n := nodes[0]
	_, err := n.Address("client")
	require.ErrorIs(t, err, runtime.ErrNotRunning)
	_, err = n.Address("nonsense")
	require.EqualError(t, err, `zk-1 has no port "nonsense"`)

	start(t, n)
	require.EqualError(t, n.Start(t.Context()), "start zk-1: it runs already")
	touch(t, n, "/broker/data/mine")
	begun := time.Now()
	require.NoError(t, n.Stop(t.Context()))
	t.Logf("stopped in %s", time.Since(begun).Round(time.Millisecond))
	require.NoError(t, n.Stop(t.Context()), "stopping a stopped one")
	_, err = n.Address("client")
	require.ErrorIs(t, err, runtime.ErrNotRunning)
	first := readLog(t, n)

	start(t, n)
	require.NoError(t, n.Kill(t.Context()))
	require.NoError(t, n.Kill(t.Context()), "killing a killed one")
	start(t, n)
	_, err = r.engine.ContainerStatPath(t.Context(), n.container, client.ContainerStatPathOptions{Path: "/broker/data/mine"})
	require.NoError(t, err, "the data is kept")
	require.NoError(t, n.Stop(t.Context()))

	text := readLog(t, n)
	require.True(t, strings.HasPrefix(text, first), "the log goes on where it ended")
	require.Equal(t, 3, strings.Count(text, "binding to port"), "each run is in the log once:\n%s", text)
	// The setup prints one such line; the server's own begin otherwise.
	require.Equal(t, 1, strings.Count("\n"+text, "\n3.4.6-"), "the setup runs once:\n%s", text)
	require.Empty(t, d.list())
}

func TestPausedNodeIsDeafUntilResumed(t *testing.T) {
	nodes, d := place(t, newRuntime(t), 1)
	n := nodes[0]
	require.ErrorIs(t, n.Pause(t.Context()), runtime.ErrNotRunning)
	start(t, n)
	require.NoError(t, n.Pause(t.Context()))
	_, err := ask(n, "ruok", 500*time.Millisecond)
	require.Error(t, err)
	require.ErrorContains(t, n.DumpThreads(t.Context()), "paused")
	require.NoError(t, n.Resume(t.Context()))
	require.Eventually(t, answers(n, "ruok", "imok"), 5*time.Second, 20*time.Millisecond)

	for name, end := range map[string]func(context.Context) error{"stop": n.Stop, "kill": n.Kill} {
		require.NoError(t, n.Pause(t.Context()))
		begun := time.Now()
		require.NoError(t, end(t.Context()), name)
		t.Logf("%s of a paused node took %s", name, time.Since(begun).Round(time.Millisecond))
		start(t, n)
	}
	require.Empty(t, d.list())
}

func TestStopKillsWhenItsContextEnds(t *testing.T) {
	nodes, d := place(t, newRuntime(t), 1)
	n := nodes[0]
	start(t, n)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, n.Stop(ctx))
	require.False(t, n.running())
	require.Empty(t, d.list())
}

func TestDeathFromOutsideIsToldOnceWithItsExitStatus(t *testing.T) {
	r := newRuntime(t)
	nodes, d := place(t, r, 1)
	n := nodes[0]
	start(t, n)
	_, err := r.engine.ContainerKill(t.Context(), n.container, client.ContainerKillOptions{Signal: "KILL"})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(d.list()) > 0 }, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, n.Kill(t.Context()), "killing a dead one")
	start(t, n)
	require.Equal(t, []string{"zk-1: exit status 137"}, d.list())
}

func TestThreadDumpIsInTheLog(t *testing.T) {
	nodes, _ := place(t, newRuntime(t), 1)
	n := nodes[0]
	start(t, n)
	require.NoError(t, n.DumpThreads(t.Context()))
	require.Eventually(t, func() bool {
		return strings.Contains(readLog(t, n), "Full thread dump OpenJDK")
	}, 5*time.Second, 20*time.Millisecond)
}

func TestPortsArePublishedOnLoopbackOnly(t *testing.T) {
	r := newRuntime(t)
	nodes, _ := place(t, r, 1)
	n := nodes[0]
	start(t, n)
	found, err := r.engine.ContainerInspect(t.Context(), n.container, client.ContainerInspectOptions{})
	require.NoError(t, err)
	require.Len(t, found.Container.NetworkSettings.Ports, 3)
	for port, bound := range found.Container.NetworkSettings.Ports {
		require.Equal(t, network.TCP, port.Proto())
		require.Len(t, bound, 1, port)
		require.Equal(t, loopback, bound[0].HostIP)
	}
	address, err := n.Address("client")
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:"+found.Container.NetworkSettings.Ports[network.MustParsePort("2181/tcp")][0].HostPort, address)
}

func TestNodesFindEachOtherByName(t *testing.T) {
	nodes, d := place(t, newRuntime(t), 3)
	for _, n := range nodes {
		require.NoError(t, n.Start(t.Context()))
	}
	modes := func() (all string) {
		for _, n := range nodes {
			answer, _ := ask(n, "srvr", time.Second)
			_, mode, _ := strings.Cut(answer, "Mode: ")
			mode, _, _ = strings.Cut(mode, "\n")
			all += mode + " "
		}
		return all
	}
	require.Eventually(t, func() bool {
		all := modes()
		return strings.Count(all, "leader") == 1 && strings.Count(all, "follower") == 2
	}, 60*time.Second, 200*time.Millisecond, "the ensemble forms")
	require.NoError(t, nodes[0].Kill(t.Context()))
	require.NoError(t, nodes[0].Start(t.Context()))
	require.Eventually(t, func() bool { return strings.Count(modes(), "er ") == 3 }, 30*time.Second, 200*time.Millisecond, "the killed one comes back")
	require.Empty(t, d.list())
}

// touch makes a file in a running container, as a broker would write its data.
func touch(t *testing.T, n *node, path string) {
	t.Helper()
	made, err := n.engine.ExecCreate(t.Context(), n.container, client.ExecCreateOptions{Cmd: []string{"touch", path}})
	require.NoError(t, err)
	_, err = n.engine.ExecStart(t.Context(), made.ID, client.ExecStartOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := n.engine.ContainerStatPath(t.Context(), n.container, client.ContainerStatPathOptions{Path: path})
		return err == nil
	}, 5*time.Second, 20*time.Millisecond)
}
