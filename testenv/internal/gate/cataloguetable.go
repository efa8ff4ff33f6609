package gate

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Text is the catalogue for a terminal.
func (c Catalogue) Text() string {
	t := c.table()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = 0
	return t.Render() + "\n"
}

// Markdown is the catalogue for a page.
func (c Catalogue) Markdown() string { return c.table().RenderMarkdown() + "\n" }

func (c Catalogue) table() table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"case", "claim", "known-bad", "known-good", "report"})
	for _, e := range c {
		t.AppendRow(table.Row{e.Case, e.Claim, joined(e.KnownBad), joined(e.KnownGood), e.Issue})
	}
	return t
}

func joined(all []Combination) string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.String()
		if c.Open != "" {
			words[i] += " (open)"
		}
	}
	return strings.Join(words, "; ")
}
