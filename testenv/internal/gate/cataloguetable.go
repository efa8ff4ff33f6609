package gate

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// narrowest is how few characters a column of sentences can be read in.
const narrowest = 24

var catalogueHead = []string{"case", "claim", "known-bad", "known-good", "report"}

func (e Entry) row() []string {
	return []string{e.Case, e.Claim, joined(e.KnownBad), joined(e.KnownGood), e.Issue}
}

// Text is the catalogue for a terminal of so many characters a line; 0 is for no terminal,
// where a line has no end. A table that would be wider has its cells broken into lines,
// but for the names of the cases. Where that leaves no room, each case is a paragraph.
func (c Catalogue) Text(width int) string {
	t := c.table()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = 0
	if width > 0 {
		most := c.columnWidth(width)
		if most < narrowest {
			return c.paragraphs(width)
		}
		var columns []table.ColumnConfig
		for _, name := range catalogueHead[1:] {
			columns = append(columns, table.ColumnConfig{Name: name, WidthMax: most, WidthMaxEnforcer: text.WrapSoft})
		}
		t.SetColumnConfigs(columns)
	}
	return t.Render() + "\n"
}

// columnWidth is how wide a column beside the first may be, so that the table is not
// wider than the terminal.
func (c Catalogue) columnWidth(terminal int) int {
	natural := make([]int, len(catalogueHead))
	for i, name := range catalogueHead {
		natural[i] = text.StringWidth(name)
	}
	widest := 0
	for _, e := range c {
		for i, cell := range e.row() {
			natural[i] = max(natural[i], text.StringWidth(cell))
			widest = max(widest, natural[i])
		}
	}
	lines := 3*len(natural) + 1 // a line before and behind each column, and a space beside each
	for most := widest; most > 0; most-- {
		width := lines + natural[0]
		for _, n := range natural[1:] {
			width += min(n, most)
		}
		if width <= terminal {
			return most
		}
	}
	return 0
}

// paragraphs is the catalogue without columns. What is copied from a terminal, a name or
// an address, is not broken.
func (c Catalogue) paragraphs(width int) string {
	var b strings.Builder
	for _, e := range c {
		b.WriteString(e.Case + "\n")
		for i, cell := range e.row()[1:] {
			switch name := catalogueHead[i+1]; {
			case cell == "":
				continue
			case name != "claim":
				cell = name + ": " + cell
			}
			if cell != "report: "+e.Issue {
				cell = text.WrapSoft(cell, max(width-2, narrowest))
			}
			for line := range strings.Lines(cell) {
				b.WriteString("  " + strings.TrimRight(line, " \n") + "\n")
			}
		}
	}
	return b.String()
}

// Markdown is the catalogue for a page.
func (c Catalogue) Markdown() string { return c.table().RenderMarkdown() + "\n" }

func (c Catalogue) table() table.Writer {
	t := table.NewWriter()
	t.AppendHeader(tableRow(catalogueHead))
	for _, e := range c {
		t.AppendRow(tableRow(e.row()))
	}
	return t
}

func tableRow(cells []string) table.Row {
	var row table.Row
	for _, c := range cells {
		row = append(row, c)
	}
	return row
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
