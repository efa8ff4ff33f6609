package htmlreport

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

const hostile = `<script>alert(1)</script> "quoted" & </style></pre><img src=x onerror=alert(2)>`

// failing is the timeline of a client that does not come back while a fresh one can.
func failing() []evidence.Entry {
	ended := func(at int64, kind, name string, budget, took int64) evidence.Entry {
		return evidence.Entry{AtMS: at, Kind: kind, Text: name + ": done", Wait: &evidence.Wait{Name: name, BudgetMS: budget, TookMS: &took}}
	}
	begun := func(at int64, kind, name string, budget int64) evidence.Entry {
		return evidence.Entry{AtMS: at, Kind: kind, Text: name, Wait: &evidence.Wait{Name: name, BudgetMS: budget}}
	}
	return []evidence.Entry{
		{AtMS: 0, Kind: "case", Text: "pulsarquota/self-heal: the same producer sends again"},
		begun(5, "broker", "pulsar 3.0.2 starts", 0), ended(9000, "broker", "pulsar 3.0.2 starts", 0, 8900),
		begun(9100, "within", "it sends", 10_000), ended(9200, "holds", "it sends", 10_000, 100),
		begun(9200, "fault", "the quota is exceeded", 30_000), ended(10_000, "fault", "the quota is exceeded", 30_000, 800),
		begun(10_000, "holding", "sends fail", 5000), ended(15_000, "holds", "sends fail", 5000, 5000),
		begun(15_000, "heal", "the quota is exceeded", 120_000), ended(15_100, "heal", "the quota is exceeded", 120_000, 100),
		begun(15_300, "recovers", "it sends again "+hostile, 30_000),
		begun(45_100, "witness", "a fresh producer sends", 15_000), ended(45_400, "witness", "a fresh producer sends", 15_000, 300),
		{AtMS: 45_400, Kind: "verdict", Text: "not recovered"},
		{AtMS: 50_000, Kind: "cleanup", Text: "close the client: done"},
	}
}

// keep makes a directory of artifacts.
func keep(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// fixture is a report with every outcome, of which one is folded and one is not.
func fixture(t *testing.T) *gate.Report {
	t.Helper()
	record, err := json.Marshal(evidence.Record{Started: time.Now(), Entries: failing()})
	require.NoError(t, err)
	dir := keep(t, map[string]string{
		"timeline.json": string(record), "timeline.txt": "started\n", "client.log": "reconnecting\n" + hostile + "\n",
		"broker-pulsar.log": strings.Repeat("a long line ", 100) + "\n12:00 ERROR \x1b[31mred\x1b[0m\n",
	})
	base := gate.Cell{
		Case: "pulsarquota/self-heal", Issue: "https://example.com/issues/1", Package: "example.com/pulsarquota", Test: "TestSelfHeal",
		Client: "github.com/apache/pulsar-client-go", ClientVersion: "v0.21.0", Broker: "pulsar", BrokerVersion: "3.0.2", Runtime: "process",
		Verdict: evidence.Recovered, Result: "pass", RecoveryMS: new(int64(2140)), BudgetMS: new(int64(30_000)), ElapsedMS: 17_600,
		Evidence: map[string]int64{"will_retry": 3}, SpentMS: map[string]int64{"start": 5200, "recovery": 2140, "cleanup": 800}, Artifacts: dir,
	}
	failed, asListed, broken, left := base, base, base, base
	failed.ClientVersion, failed.Verdict, failed.AtFault, failed.Result = "v0.9.0", evidence.NotRecovered, evidence.Client, "fail"
	failed.RecoveryMS, failed.Reason, failed.KnownBad = nil, "not within 30s; last: "+hostile, hostile
	failed.Evidence = map[string]int64{hostile: 1}
	asListed.Case, asListed.Verdict, asListed.Result, asListed.RecoveryMS = "pulsarquota/"+strings.Repeat("long-name-", 12), evidence.NotRecovered, "skip", nil
	broken.Case, broken.Verdict, broken.Result, broken.RecoveryMS, broken.BudgetMS = "pulsarquota/no-engine", evidence.Environment, "fail", nil, nil
	broken.Reason, broken.Artifacts = strings.Repeat("x", 400), ""
	left.Case, left.Verdict, left.Result, left.RecoveryMS, left.BudgetMS = "kafkatxn/left-out", evidence.NotRun, "skip", nil, nil
	left.Client, left.Broker, left.Issue, left.Artifacts = "github.com/twmb/franz-go", "kafka", "javascript:alert(3)", "/nowhere/_artifacts/1"
	left.SpentMS = nil
	r := gate.NewReport()
	r.BuildMS = 61_500
	r.Cells = []gate.Cell{base, failed, asListed, broken, left}
	for _, v := range []string{"2.10.6", "2.11.4", "3.3.7", "4.0.10", "4.2.4"} {
		more := base
		more.BrokerVersion = v
		r.Cells = append(r.Cells, more)
	}
	r.Failures = []gate.Failure{{Package: "example.com/other", Test: "TestOther", Output: hostile}}
	r.Environment = []gate.Failure{{Package: "example.com/broken", Output: "undefined: x"}}
	return r
}

// rendered is the page as a browser reads it.
func rendered(t *testing.T, p Page) (text string, elements []*html.Node) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, p))
	root, err := html.Parse(&b)
	require.NoError(t, err)
	var words strings.Builder
	for n := range root.Descendants() {
		switch {
		case n.Type == html.TextNode && n.Parent.Data != "style":
			words.WriteString(n.Data + " ")
		case n.Type == html.ElementNode:
			elements = append(elements, n)
		}
	}
	return strings.Join(strings.Fields(words.String()), " "), elements
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
