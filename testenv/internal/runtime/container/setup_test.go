package container

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
)

// withSetup puts a program before those of the node.
func withSetup(n *node, p broker.Program) {
	launch := n.node.Launch
	n.node.Launch = func(at broker.Site) broker.Launch {
		l := launch(at)
		l.Setup = []broker.Program{p}
		return l
	}
}

func TestStopEndsASetupThatIsStillAtWork(t *testing.T) {
	nodes, d := place(t, newRuntime(t), 1)
	n := nodes[0]
	withSetup(n, broker.Program{Class: "org.apache.zookeeper.server.quorum.QuorumPeerMain", Args: []string{"conf/zoo.cfg"}})
	start(t, n)
	begun := time.Now()
	require.NoError(t, n.Stop(t.Context()))
	require.Less(t, time.Since(begun), 8*time.Second)
	require.NotContains(t, readLog(t, n), "setup ended")
	require.Empty(t, d.list())
}

func TestSetupThatFailsIsADeathAndRunsAgain(t *testing.T) {
	nodes, d := place(t, newRuntime(t), 1)
	n := nodes[0]
	withSetup(n, broker.Program{Class: "no.such.Class"})
	for run := 1; run <= 2; run++ {
		require.NoError(t, n.Start(t.Context()))
		require.Eventually(t, func() bool { return len(d.list()) == run }, 20*time.Second, 20*time.Millisecond)
	}
	require.Equal(t, []string{"zk-1: exit status 1", "zk-1: exit status 1"}, d.list())
	require.Contains(t, readLog(t, n), "setup ended with exit status 1: env")
}
