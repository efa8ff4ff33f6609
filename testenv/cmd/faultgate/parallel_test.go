package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// meetsTheOther passes if it runs at the same time as that of another version.
const meetsTheOther = `package cases

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCase(t *testing.T) {
	version := os.Getenv("BROKERFAULT_PULSAR")
	t.Attr("case", "pulsarcases/meet")
	t.Attr("broker", "pulsar")
	t.Attr("broker_version", version)
	if os.Getenv("BROKERFAULT_LIST") == "1" {
		t.Attr("verdict", "not run")
		t.Skip()
	}
	dir := os.Getenv("MEETING")
	if err := os.WriteFile(filepath.Join(dir, version), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if there, _ := os.ReadDir(dir); len(there) == 2 {
			break
		}
		if time.Now().After(end) {
			t.Attr("verdict", "not recovered")
			t.Fatal("the other one did not come")
		}
	}
	t.Attr("verdict", "recovered")
}
`

func TestCombinationsRunSideBySideAndAreToldInTheirOrder(t *testing.T) {
	module(t, meetsTheOther)
	t.Setenv("MEETING", t.TempDir())
	var out, progress bytes.Buffer
	code := Main([]string{"run", "-json", "-parallel", "2", "-broker", "pulsar=3.0.2,2.11.0"}, &out, &progress)
	require.Equal(t, gate.ExitOK, code, progress.String()+out.String())
	var r gate.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Len(t, r.Cells, 2)
	assert.Equal(t, "3.0.2", r.Cells[0].BrokerVersion)
	assert.Equal(t, "2.11.0", r.Cells[1].BrokerVersion)

	assert.Equal(t, exitUsage, Main([]string{"run", "-parallel", "0"}, &out, &progress))
	assert.Contains(t, progress.String(), "--parallel 0: it takes a number from 1 on")
}
