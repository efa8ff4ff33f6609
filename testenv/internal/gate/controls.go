package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

// Control is a combination that a case lists, and what a run of it showed.
type Control struct {
	Case string      `json:"case"`
	At   Combination `json:"at"`
	// Bad says that the case is listed as failing there.
	Bad bool `json:"bad"`
	// Outcome is "as listed", "not as listed", or "environment".
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	// Seen is the cell that showed the listed failure; nil if none did.
	Seen *Cell `json:"-"`
}

// The outcomes of a control.
const (
	AsListed    = "as listed"
	NotAsListed = "not as listed"
	NotTold     = "environment"
)

// Judge says what a report shows of the control.
func (c *Control) Judge(r *Report) {
	var cells []Cell
	for _, cell := range r.Cells {
		if cell.Case == c.Case && (c.At.Broker == "" || cell.BrokerVersion == c.At.Broker) &&
			(c.At.Client == "" || cell.ClientVersion == c.At.Client) {
			cells = append(cells, cell)
		}
	}
	bad := slices.IndexFunc(cells, func(cell Cell) bool { return cell.Verdict == evidence.NotRecovered })
	listed := slices.IndexFunc(cells, c.shows)
	untold := slices.IndexFunc(cells, func(cell Cell) bool { return !reached(&cell) })
	switch {
	case len(cells) == 0:
		c.Outcome, c.Reason = NotTold, "no test of the case ran with these versions"
		if len(r.Environment) > 0 {
			c.Reason = strings.TrimSpace(r.Environment[0].Output)
		}
	case c.Bad && listed >= 0:
		c.Outcome, c.Reason, c.Seen = AsListed, cells[listed].Reason, &cells[listed]
	case c.Bad && bad >= 0:
		c.Outcome, c.Reason = NotAsListed, "it fails, but not as listed: "+cells[bad].Reason
	case bad >= 0:
		c.Outcome, c.Reason = NotAsListed, "listed as holding, but: "+cells[bad].Reason
	case untold >= 0:
		c.Outcome, c.Reason = NotTold, cells[untold].Reason
	case c.Bad:
		c.Outcome, c.Reason = NotAsListed, "listed as failing, but it holds: the check or the entry is wrong"
	default:
		c.Outcome = AsListed
	}
}

// shows says that the cell failed as is listed. A panic or an assertion of the test's own
// tells of the test, unless the listing says that this is it.
func (c *Control) shows(cell Cell) bool {
	switch {
	case cell.Verdict != evidence.NotRecovered:
		return false
	case c.At.Open != "":
		return cell.Accepted()
	case c.At.Fails != "":
		return strings.HasPrefix(cell.Reason, c.At.Fails+": ")
	}
	return cell.Reason != evidence.Asserted && !strings.HasPrefix(cell.Reason, evidence.Panicked)
}

// Controls are those that were judged.
type Controls []Control

// ExitCode is 1 if one is not as listed, 3 if one was not told, 4 if there is none, else 0.
func (all Controls) ExitCode() int {
	has := func(outcome string) bool {
		return slices.ContainsFunc(all, func(c Control) bool { return c.Outcome == outcome })
	}
	switch {
	case has(NotAsListed):
		return ExitFailed
	case has(NotTold):
		return ExitEnvironment
	case len(all) == 0:
		return ExitNothingRan
	}
	return ExitOK
}

// Listed is how the case lists it: "failing" or "holding".
func (c Control) Listed() string {
	if c.Bad {
		return "failing"
	}
	return "holding"
}

// Title counts those that are as listed.
func (all Controls) Title() string {
	n := 0
	for _, c := range all {
		if c.Outcome == AsListed {
			n++
		}
	}
	return fmt.Sprintf("%d of %d combinations are as listed", n, len(all))
}

// Text is a table for a terminal, with the reasons of what is not as listed below it.
func (all Controls) Text() string {
	t := all.table()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = 0
	return t.Render() + "\n" + all.reasons("")
}

// Markdown is the same for a page.
func (all Controls) Markdown() string {
	text := "### " + all.Title() + "\n\n" + all.table().RenderMarkdown() + "\n"
	if reasons := all.reasons("- "); reasons != "" {
		text += "\n" + reasons
	}
	return text
}

func (all Controls) table() table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"case", "at", "listed as", "outcome"})
	for _, c := range all {
		t.AppendRow(table.Row{c.Case, c.At, c.Listed(), c.Outcome})
	}
	return t
}

// reasons are those of what is not as listed, a line each.
func (all Controls) reasons(begin string) string {
	var b strings.Builder
	for _, c := range all {
		if c.Outcome != AsListed {
			fmt.Fprintf(&b, "%s%s at %s: %s: %s\n", begin, c.Case, c.At, c.Outcome, c.Reason)
		}
	}
	return b.String()
}
