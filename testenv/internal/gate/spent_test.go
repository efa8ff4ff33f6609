package gate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportSaysWhereTheTimeWent(t *testing.T) {
	r := NewReport()
	require.Empty(t, r.spent())
	r.BuildMS = 1500
	r.Cells = []Cell{
		{SpentMS: map[string]int64{"start": 2000, "recovery": 300}},
		{SpentMS: map[string]int64{"start": 1000, "scenario": 4000}},
	}
	var text strings.Builder
	require.NoError(t, r.Print(&text))
	require.Contains(t, text.String(), "build 1.5s, download and images 0s, waiting for other starts 0s, start 3s, fault and observation 4s, recovery 300ms, clean-up 0s\n")
}

func TestAttributesSayWhereACellsTimeWent(t *testing.T) {
	var c Collector
	c.Begin()
	for _, line := range []string{
		`{"Action":"run","Package":"p","Test":"T"}`,
		`{"Action":"attr","Package":"p","Test":"T","Key":"case","Value":"p/t"}`,
		`{"Action":"attr","Package":"p","Test":"T","Key":"verdict","Value":"recovered"}`,
		`{"Action":"attr","Package":"p","Test":"T","Key":"spent_ms.start","Value":"1234"}`,
		`{"Action":"pass","Package":"p","Test":"T"}`,
	} {
		_, _ = c.Write([]byte(line + "\n"))
	}
	r := c.Report(false)
	require.Equal(t, map[string]int64{"start": 1234}, r.Cells[0].SpentMS)
}
