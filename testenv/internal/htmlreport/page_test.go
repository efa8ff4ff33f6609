package htmlreport

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

func TestWhatTheRunSaidIsShownAsText(t *testing.T) {
	r := fixture(t)
	text, elements := rendered(t, Page{Report: r, Title: hostile, Lead: hostile})
	// Title, h1, lead, reason, known-bad, a count's name, the failure; then where there
	// are artifacts: the timeline's chart and its entries, and a log.
	require.GreaterOrEqual(t, strings.Count(text, hostile), 10)
	for _, n := range elements {
		assert.NotContains(t, []string{"script", "img", "iframe", "object", "link", "base", "form"}, n.Data)
		for _, a := range n.Attr {
			assert.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "style", "<%s %s=%q>", n.Data, a.Key, a.Val)
			assert.NotContains(t, a.Val, "javascript:")
		}
	}
	assert.NotContains(t, style, "url(")
	assert.NotContains(t, style, "@import")
}

func TestPageTellsVerdictsTimelineEvidenceAndLogs(t *testing.T) {
	text, _ := rendered(t, Page{Report: fixture(t), Made: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)})
	for _, want := range []string{
		"2 January 2026, 03:04 UTC", "1 of 10 results failed", "✗ 1 failed", "≈ 1 fails as listed", "! 1 environment", "✓ 6 recovered",
		"not recovered (client)", "recovered in 2.14 s of 30 s, 7% of the budget", "not recovered within 30 s",
		"the same producer sends again", // the claim
		"observation sends fail took 5.00 s of 5.00 s", "did not come true within 30 s", "witness a fresh producer sends took 300 ms of 15 s",
		"A fault lay on the broker from 10 s to 15.1 s", "will retry 3", "The end of client.log reconnecting", "12:00 ERROR red",
		"cannot be read from here", "None were kept", "undefined: x", "took in all: 17.6 s",
		// Of a cell, and summed over nine of ten.
		"start: 5.20 s fault and observation: 0 ms recovery: 2.14 s clean-up: 800 ms",
		"several run at a time. build: 61.5 s download and images: 0 ms waiting for other starts: 0 ms start: 46.8 s fault and observation: 0 ms recovery: 19.3 s clean-up: 7.20 s",
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "\x1b")
	assert.Equal(t, 1+9, strings.Count(text, "Where the time went"), "a cell that does not say has none")
}

func TestPageOfAnEmptyReportSaysSo(t *testing.T) {
	text, _ := rendered(t, Page{Report: gate.NewReport()})
	require.Contains(t, text, "No case ran")
}

func TestEveryLinkOnThePageLeadsSomewhere(t *testing.T) {
	_, elements := rendered(t, Page{Report: fixture(t)})
	var ids []string
	for _, n := range elements {
		if id := attribute(n, "id"); id != "" {
			require.NotContains(t, ids, id, "an id is there once")
			ids = append(ids, id)
		}
	}
	for _, n := range elements {
		if to, is := strings.CutPrefix(attribute(n, "href"), "#"); is {
			assert.Contains(t, ids, to)
		}
		for _, id := range strings.Fields(attribute(n, "aria-labelledby")) {
			assert.Contains(t, ids, id)
		}
		if n.Data == "svg" {
			assert.True(t, attribute(n, "aria-label") != "" || attribute(n, "aria-hidden") == "true", "a chart has words")
		}
	}
}

func TestHeadingsSkipNoLevel(t *testing.T) {
	_, elements := rendered(t, Page{Report: fixture(t)})
	before := 0
	for _, n := range elements {
		if level := slices.Index([]string{"h1", "h2", "h3", "h4", "h5", "h6"}, n.Data) + 1; level > 0 {
			assert.LessOrEqual(t, level, before+1, "%s after h%d", n.Data, before)
			before = level
		}
	}
}

func TestLinksToArtifactsAreRelativeToThePage(t *testing.T) {
	dir := keep(t, map[string]string{"a#b?c%2f d.log": "x\n", "e:f.log": "y\n"})
	r := gate.NewReport()
	r.Cells = []gate.Cell{{Case: "x/y", Verdict: "recovered", Result: "pass", Artifacts: dir}}
	_, elements := rendered(t, Page{Report: r, Dir: filepath.Dir(dir)})
	var links []string
	for _, n := range elements {
		if href := attribute(n, "href"); strings.HasSuffix(href, ".log") {
			links = append(links, href)
		}
	}
	base := filepath.Base(dir)
	require.Equal(t, []string{base + "/a%23b%3Fc%252f%20d.log", base + "/e:f.log"}, links)
}

func TestArtifactsThatCannotBeReadAreToldAndDoNotStopThePage(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no JSON":        {map[string]string{"timeline.json": "{"}, "timeline.json cannot be read: unexpected end of JSON input"},
		"no entries":     {map[string]string{"timeline.json": "{}"}, "timeline.json has no entries"},
		"text alone":     {map[string]string{"timeline.txt": "started <b>\n"}, "started <b>"},
		"nothing":        {nil, "Artifacts"},
		"an empty log":   {map[string]string{"client.log": ""}, "client.log"},
		"no waits in it": {map[string]string{"timeline.json": `{"entries":[{"at_ms":0,"kind":"note","text":"one"}]}`}, "0 ms note one"},
		"odd times":      {map[string]string{"timeline.json": `{"entries":[{"at_ms":-5,"kind":"holds","text":"one","wait":{"name":"x","took_ms":9}},{"at_ms":0,"kind":"within","text":"two","wait":{"name":"x"}}]}`}, "healthy x did not come true"},
	} {
		t.Run(name, func(t *testing.T) {
			r := gate.NewReport()
			r.Cells = []gate.Cell{{Case: "x/y", Verdict: "recovered", Result: "pass", Artifacts: keep(t, tt.files)}}
			text, _ := rendered(t, Page{Report: r})
			require.Contains(t, text, tt.want)
		})
	}
}

func TestAFolderInPlaceOfALogIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"client.log", "timeline.json"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	r := gate.NewReport()
	r.Cells = []gate.Cell{{Case: "x/y", Verdict: "recovered", Result: "pass", Artifacts: dir}}
	text, _ := rendered(t, Page{Report: r})
	require.NotContains(t, text, "client.log")
	require.Contains(t, text, "it is no file")
}
