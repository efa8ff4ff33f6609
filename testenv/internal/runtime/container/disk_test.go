package container

import (
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
)

const limit = 8 << 20

// limited is a ZooKeeper whose data have a disk of their own.
func limited() broker.Node {
	n := zookeeper(1, 1)
	n.Data, n.DataLimit = "data", limit
	return n
}

func placeLimited(t *testing.T, r *Runtime) *node {
	t.Helper()
	nodes, _ := placeAll(t, r, []broker.Node{limited()})
	return nodes[0]
}

func TestDiskIsFullToTheLastPageAndHasRoomAgain(t *testing.T) {
	n := placeLimited(t, newRuntime(t))
	_, err := n.Disk()
	require.ErrorContains(t, err, "was never started")
	start(t, n)
	d, err := n.Disk()
	require.NoError(t, err)
	require.ErrorContains(t, d.Full(t.Context()), "there is room for ", "it was not filled")
	require.NoError(t, d.Clear(t.Context()), "clearing one that was not filled")

	others := *d.(*disk)
	others.limit -= 1 << 20
	require.ErrorContains(t, others.Fill(t.Context()), "it has 8192 KiB, not the 7168 of its limit")
	require.ErrorContains(t, d.Full(t.Context()), "there is room for ", "it was left alone")
	for range 2 {
		require.NoError(t, d.Fill(t.Context()))
		require.NoError(t, d.Full(t.Context()))
	}
	require.NoError(t, n.Kill(t.Context()))
	require.NoError(t, d.Full(t.Context()), "also while the node does not run")
	require.NoError(t, d.Clear(t.Context()))
	require.NoError(t, d.Clear(t.Context()))
	require.ErrorContains(t, d.Full(t.Context()), "there is room for ")
	start(t, n)
}

func TestDataStayOnTheirDiskOverEndsAndAnotherImage(t *testing.T) {
	n := placeLimited(t, newRuntime(t))
	start(t, n)
	touch(t, n, "/broker/data/mine")
	kept := func() {
		_, err := n.engine.ContainerStatPath(t.Context(), n.container, client.ContainerStatPathOptions{Path: "/broker/data/mine"})
		require.NoError(t, err, "the data are kept")
	}
	require.NoError(t, n.Stop(t.Context()))
	start(t, n)
	kept()
	require.NoError(t, n.Kill(t.Context()))
	start(t, n)
	kept()

	other := limited()
	other.Bill.Version = "3.4.6-again" // another image of the same jars
	before := n.image
	require.NoError(t, n.Stop(t.Context()))
	require.NoError(t, n.Become(t.Context(), other, t.Logf))
	require.NotEqual(t, before, n.image)
	start(t, n)
	kept()
	d, err := n.Disk()
	require.NoError(t, err)
	require.NoError(t, d.Fill(t.Context()))
	require.NoError(t, d.Full(t.Context()), "it is the same disk")
}

func TestNodeWithoutALimitHasNoDisk(t *testing.T) {
	nodes, _ := place(t, newRuntime(t), 1)
	start(t, nodes[0])
	_, err := nodes[0].Disk()
	require.EqualError(t, err, "the data of zk-1 lie on the engine's disk, which others need: give it a DataLimit")
}

func TestDiskThatCannotBeMadeLeavesNothing(t *testing.T) {
	n := placeLimited(t, newRuntime(t))
	n.node.DataLimit = -1
	require.ErrorContains(t, n.Start(t.Context()), "start zk-1: make the disk of its data")
}
