package gate

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Text is the comparison for a terminal.
func (c *Comparison) Text() string {
	t := c.table()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = 0
	return c.written(t.Render(), "")
}

// Markdown is the comparison for a pull request.
func (c *Comparison) Markdown() string {
	return c.written(c.table().RenderMarkdown(), "### ")
}

func (c *Comparison) written(rendered, title string) string {
	var b strings.Builder
	b.WriteString(title + c.Title() + "\n\n")
	if len(c.Changes) > 0 {
		b.WriteString(rendered + "\n\n")
	}
	for _, ch := range c.Changes {
		if ch.Kind == Regressed || ch.Kind == Environment {
			fmt.Fprintf(&b, "%s: %s: %s\n", ch.Case, ch.Kind, ch.Reason())
		}
	}
	list(&b, "not told", c.Other)
	b.WriteString(c.Closing() + "\n")
	return b.String()
}

// Title is the decision, and on what.
func (c *Comparison) Title() string {
	return fmt.Sprintf("%s: %s against %s", c.Decision(), c.Head, c.Base)
}

func (c *Comparison) table() table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"change", "case", "broker", "base", "head"})
	for _, ch := range c.Changes {
		t.AppendRow(table.Row{ch.Kind, ch.Case, ch.broker(), told(ch.Base), told(ch.Head)})
	}
	return t
}

func (ch Change) broker() string {
	for _, c := range []*Cell{ch.Head, ch.Base} {
		if c != nil {
			return version(c.Broker, c.BrokerVersion)
		}
	}
	return ""
}

func told(c *Cell) string {
	if c == nil {
		return "did not run"
	}
	return strings.TrimSpace(c.Words() + " " + c.recovery())
}

// Reason is what head says of it, else base.
func (ch Change) Reason() string {
	for _, c := range []*Cell{ch.Head, ch.Base} {
		if c == nil {
			return "it ran on one side only"
		}
		if c.Reason != "" {
			return c.Reason
		}
	}
	return "no reason was given"
}

// Closing counts the changes, in a line.
func (c *Comparison) Closing() string {
	counts := map[Kind]int{}
	for _, ch := range c.Changes {
		counts[ch.Kind]++
	}
	var parts []string
	for _, k := range []Kind{Regressed, Fixed, Slower, Unchanged, Environment} {
		if counts[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[k], k))
		}
	}
	if len(parts) == 0 {
		return "no case was run"
	}
	return strings.Join(parts, ", ")
}
