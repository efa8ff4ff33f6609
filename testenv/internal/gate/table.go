package gate

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

// Print writes the verdict table, the reasons below it, and a closing line.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	if len(r.Cells) > 0 {
		t := r.table()
		t.SetStyle(table.StyleLight)
		t.Style().Format.Header = 0
		b.WriteString(t.Render())
		b.WriteByte('\n')
	}
	for _, c := range r.Cells {
		if c.Reason != "" && c.Verdict != evidence.Recovered {
			fmt.Fprintf(&b, "%s: %s: %s\n", c.Case, c.Verdict, c.Reason)
			indented(&b, c.Output)
		}
		if c.Replay != "" {
			fmt.Fprintf(&b, "%s: again with: %s\n", c.Case, c.Replay)
		}
		if c.KnownBad != "" {
			fmt.Fprintf(&b, "%s: listed as known-bad: %s\n", c.Case, c.KnownBad)
		}
		if c.Artifacts != "" && c.Result == failed {
			fmt.Fprintf(&b, "%s: evidence in %s\n", c.Case, c.Artifacts)
		}
	}
	list(&b, "failed", r.Failures)
	list(&b, "environment", r.Environment)
	if spent := r.spent(); spent != "" {
		b.WriteString(spent + "\n")
	}
	b.WriteString(r.Closing())
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown is the verdict table for a page, with the closing line.
func (r *Report) Markdown() string { return r.table().RenderMarkdown() + "\n\n" + r.Closing() + "\n" }

func (r *Report) table() table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"case", "client", "broker", "runtime", "verdict", "recovery of budget"})
	for _, c := range r.Cells {
		t.AppendRow(table.Row{c.Case, c.client(), version(c.Broker, c.BrokerVersion), c.Runtime, c.Words(), c.recovery()})
	}
	return t
}

func list(b *strings.Builder, title string, all []Failure) {
	for _, f := range all {
		fmt.Fprintf(b, "%s: %s\n", title, strings.TrimSpace(f.Package+" "+f.Test))
		indented(b, f.Output)
	}
}

func indented(b *strings.Builder, text string) {
	for line := range strings.Lines(text) {
		b.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
	}
}

// Closing counts the verdicts, in a line.
func (r *Report) Closing() string {
	counts := map[evidence.Verdict]int{}
	for _, c := range r.Cells {
		counts[c.Verdict]++
	}
	parts := []string{}
	for _, v := range []evidence.Verdict{evidence.Recovered, evidence.NotRecovered, evidence.Environment, evidence.NotRun} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
		}
	}
	s := strings.Join(parts, ", ")
	if s == "" {
		s = "no case ran"
	}
	if n := len(r.Failures); n > 0 {
		s += fmt.Sprintf("; %d other failures", n)
	}
	if r.Interrupted {
		s += "; interrupted, so this is not all"
	}
	return s
}

var majorVersion = regexp.MustCompile(`^v\d+$`)

// ClientName is the part of the module path that people say.
func (c Cell) ClientName() string {
	if c.Client == "" {
		return ""
	}
	name := path.Base(c.Client)
	if majorVersion.MatchString(name) {
		name = path.Base(path.Dir(c.Client))
	}
	return name
}

func (c Cell) client() string { return version(c.ClientName(), c.ClientVersion) }

func version(name, version string) string { return strings.TrimSpace(name + " " + version) }

// Words are the verdict, who is at fault, and what go test made of it.
func (c Cell) Words() string {
	s := string(c.Verdict)
	if c.AtFault != "" {
		s += fmt.Sprintf(" (%s)", c.AtFault)
	}
	switch {
	case c.Accepted():
		s += ", as listed"
	case c.Verdict == evidence.Recovered && c.Result == failed:
		s += ", but failed"
	}
	return s
}

func (c Cell) recovery() string {
	took, budget := "-", "-"
	if c.RecoveryMS != nil {
		took = milliseconds(*c.RecoveryMS)
	}
	if c.BudgetMS != nil {
		budget = milliseconds(*c.BudgetMS)
	}
	if took == "-" && budget == "-" {
		return ""
	}
	return took + " of " + budget
}

func milliseconds(n int64) string {
	return (time.Duration(n) * time.Millisecond).String()
}

// String is one line: the result, the time, and what it was: a case with its versions and
// verdict, or a test.
func (p Progress) String() string {
	s := fmt.Sprintf("%-4s %6.1fs ", p.Result, p.Elapsed)
	switch {
	case p.Cell != nil:
		s += p.Cell.Case
		for _, with := range []string{p.Cell.client(), version(p.Cell.Broker, p.Cell.BrokerVersion)} {
			if with != "" {
				s += ", " + with
			}
		}
		s += ": " + p.Cell.Words()
		switch {
		case p.Cell.RecoveryMS != nil:
			s += " in " + p.Cell.recovery()
		case p.Cell.BudgetMS != nil:
			s += " within " + milliseconds(*p.Cell.BudgetMS)
		}
	case p.Test != "":
		s += p.Package + " " + p.Test
	default:
		s += p.Package + " does not build"
	}
	return s
}
