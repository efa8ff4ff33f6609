package container

import (
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
)

func TestNodeBecomesOneOfAnotherImageWithItsDataAndWithoutItsSetup(t *testing.T) {
	nodes, d := place(t, newRuntime(t), 1)
	n := nodes[0]
	other := zookeeper(1, 1)
	other.Bill.Version = "3.4.6-again" // another image of the same jars
	start(t, n)
	touch(t, n, "/broker/data/mine")
	before := n.image
	require.EqualError(t, n.Become(t.Context(), other, t.Logf), "change zk-1: it runs")
	require.NoError(t, n.Fetch(t.Context(), other.Bill, t.Logf))
	require.NoError(t, n.Stop(t.Context()))

	foreign := other
	foreign.Ports = foreign.Ports[:1]
	require.ErrorContains(t, n.Become(t.Context(), foreign, t.Logf), "would have")
	require.NoError(t, n.Become(t.Context(), other, t.Logf))
	require.NotEqual(t, before, n.image)
	start(t, n)
	found, err := n.engine.ContainerInspect(t.Context(), n.container, client.ContainerInspectOptions{})
	require.NoError(t, err)
	require.Equal(t, n.image, found.Container.Config.Image)
	_, err = n.engine.ContainerStatPath(t.Context(), n.container, client.ContainerStatPathOptions{Path: "/broker/data/mine"})
	require.NoError(t, err, "the data is kept")
	text := readLog(t, n)
	require.Equal(t, 2, strings.Count(text, "binding to port"), "it ran twice:\n%s", text)
	require.Equal(t, 1, strings.Count("\n"+text, "\n3.4.6-"), "the setup ran once:\n%s", text)
	require.Empty(t, d.list())
}
