package htmlreport

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

func TestGridHasAColumnForEachPairOfVersionsInTheirOrder(t *testing.T) {
	var cells []*cell
	for i, v := range [][2]string{{"v0.21.0", "3.10.0"}, {"v0.9.0", "3.9.2"}, {"v0.21.0", "0.8.2.1"}, {"v0.21.0", "3.9.2"}, {"v0.21.0", "3.9.2"}} {
		cells = append(cells, cellOf(gate.Cell{Case: "a/b", Client: "x/client", Broker: "kafka", ClientVersion: v[0], BrokerVersion: v[1]}, i, "."))
	}
	all := grids(cells)
	require.Len(t, all, 1)
	require.Equal(t, "client on kafka", all[0].Title)
	require.Equal(t, []head{{"v0.9.0", 1}, {"v0.21.0", 3}}, all[0].Clients)
	require.Equal(t, []column{{"v0.9.0", "3.9.2", ""}, {"v0.21.0", "0.8.2.1", ""}, {"v0.21.0", "3.9.2", ""}, {"v0.21.0", "3.10.0", ""}}, all[0].Columns)
	require.Len(t, all[0].Rows, 1)
	require.Len(t, all[0].Rows[0].Cells[2], 2, "none is lost")
	cells[0].Runtime = "container"
	require.Equal(t, "3.9.2 no runtime", grids(cells)[0].Columns[0].Text(), "several runtimes are told apart")
}

func TestDurationsAreInTheUnitThatFits(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "0 ms", 940: "940 ms", 1868: "1.87 s", 17_600: "17.6 s", 30_000: "30 s", 258_000: "4 min 18 s", 120_000: "2 min", -5: "-5 ms",
	} {
		require.Equal(t, strings.ReplaceAll(want, " ", "\u00a0"), duration(ms))
	}
}
