package junitxml

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// document is what CI systems read, by the names that the format has.
type document struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Suites   []struct {
		Name       string `xml:"name,attr"`
		Tests      int    `xml:"tests,attr"`
		Time       string `xml:"time,attr"`
		Properties []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"properties>property"`
		Cases []struct {
			Name      string  `xml:"name,attr"`
			Classname string  `xml:"classname,attr"`
			Time      string  `xml:"time,attr"`
			Failure   *result `xml:"failure"`
			Error     *result `xml:"error"`
			Skipped   *result `xml:"skipped"`
			SystemOut string  `xml:"system-out"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type result struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func read(t *testing.T, r *gate.Report) document {
	t.Helper()
	return readBack(t, func(w io.Writer) error { return Write(w, r) })
}

func readBack(t *testing.T, write func(io.Writer) error) document {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, write(&b))
	require.True(t, strings.HasPrefix(b.String(), `<?xml version="1.0"`))
	var d document
	require.NoError(t, xml.Unmarshal(b.Bytes(), &d), b.String())
	return d
}

func cell(name string, verdict evidence.Verdict, result, reason string) gate.Cell {
	return gate.Cell{
		Case: name, Package: "example.com/pulsarcases", Test: "Test" + name,
		Client: "github.com/apache/pulsar-client-go", ClientVersion: "v0.18.0",
		Broker: "pulsar", BrokerVersion: "3.0.2", Runtime: "process",
		Verdict: verdict, Result: result, Reason: reason, ElapsedMS: 1500,
	}
}

func TestVerdictsBecomeFailuresErrorsAndSkips(t *testing.T) {
	r := gate.NewReport()
	r.Cells = []gate.Cell{
		cell("held", evidence.Recovered, "pass", ""),
		cell("broke", evidence.NotRecovered, "fail", "it sends: not within 30s"),
		cell("holds-though-listed", evidence.Recovered, "fail", ""),
		cell("as-listed", evidence.NotRecovered, "skip", "dead"),
		cell("no-engine", evidence.Environment, "fail", "no engine answers"),
		cell("left-out", evidence.NotRun, "skip", "needs an engine"),
		cell("required", evidence.NotRun, "fail", "needs an engine"),
	}
	d := read(t, r)
	require.Equal(t, []int{7, 2, 2, 2}, []int{d.Tests, d.Failures, d.Errors, d.Skipped})
	require.Len(t, d.Suites, 1)
	s := d.Suites[0]
	require.Equal(t, "pulsarcases: pulsar-client-go v0.18.0 on pulsar 3.0.2 (process)", s.Name)
	require.Equal(t, "10.500", s.Time)
	require.Equal(t, "client_version", s.Properties[1].Name)
	require.Equal(t, "v0.18.0", s.Properties[1].Value)
	for i, c := range s.Cases {
		require.Equal(t, r.Cells[i].Case, c.Name)
		require.Equal(t, "example.com/pulsarcases", c.Classname)
		require.Equal(t, "1.500", c.Time)
		require.Equal(t, i == 1 || i == 2, c.Failure != nil, c.Name)
		require.Equal(t, i == 4 || i == 6, c.Error != nil, c.Name)
		require.Equal(t, i == 3 || i == 5, c.Skipped != nil, c.Name)
	}
	require.Equal(t, "not recovered: it sends: not within 30s", s.Cases[1].Failure.Message)
	require.Equal(t, "it sends: not within 30s", s.Cases[1].Failure.Text)
	require.Equal(t, "not recovered, as listed: dead", s.Cases[3].Skipped.Message)
}

func TestSuitesAreTellingApartVersionsAndCarryTheEvidence(t *testing.T) {
	r := gate.NewReport()
	old, twin := cell("one", evidence.Recovered, "pass", ""), cell("one", evidence.Recovered, "pass", "")
	old.BrokerVersion = "2.11.4"
	old.RecoveryMS, old.BudgetMS = new(int64(2140)), new(int64(30000))
	old.Evidence = map[string]int64{"sends": 3, "reconnects": 0}
	twin.Test = "TestTwins/exception"
	r.Cells = []gate.Cell{old, cell("one", evidence.Recovered, "pass", ""), twin}
	d := read(t, r)
	require.Len(t, d.Suites, 2)
	require.Contains(t, d.Suites[0].Cases[0].SystemOut, "recovery_ms: 2140\nbudget_ms: 30000\nevidence reconnects: 0\nevidence sends: 3\n")
	require.Equal(t, "one (Testone)", d.Suites[1].Cases[0].Name)
	require.Equal(t, "one (TestTwins/exception)", d.Suites[1].Cases[1].Name)
}

func TestWhatIsNoCaseIsThereAsWell(t *testing.T) {
	r := gate.NewReport()
	r.Failures = []gate.Failure{{Package: "p", Test: "TestOther", Output: "want 1"}}
	r.Environment = []gate.Failure{{Package: "q", Output: "undefined: x"}}
	r.Interrupted = true
	d := read(t, r)
	require.Equal(t, []int{3, 1, 2}, []int{d.Tests, d.Failures, d.Errors})
	require.Equal(t, "want 1", d.Suites[0].Cases[0].Failure.Text)
	require.Equal(t, "undefined: x", d.Suites[0].Cases[1].Error.Text)
}

func TestAnyOutputIsLegalXML(t *testing.T) {
	r := gate.NewReport()
	r.Cells = []gate.Cell{cell("one", evidence.NotRecovered, "fail", "\x1b[31mred\x1b[0m ]]> <b>&amp; \xff")}
	c := read(t, r).Suites[0].Cases[0]
	require.Contains(t, c.Failure.Text, "\ufffd[31mred\ufffd[0m ]]> <b>&amp;")
	require.Contains(t, c.Failure.Message, "]]> <b>&amp;")
}
