package doctor

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Status is what a check came to.
type Status string

// Missing is what a run cannot do without; Warn is what it can.
const (
	OK      Status = "ok"
	Warn    Status = "warn"
	Missing Status = "missing"
)

// Check is one thing that was looked at.
type Check struct {
	Name    string `json:"check"`
	Status  Status `json:"status"`
	Finding string `json:"finding"`
	// Remedy says how to get what is missing, or is empty.
	Remedy string `json:"remedy,omitempty"`
}

// Report is all that was looked at.
type Report struct {
	// Fit says that a run could work.
	Fit bool `json:"fit"`
	// Runtime is where brokers would run: container, process, or empty.
	Runtime string  `json:"runtime"`
	Checks  []Check `json:"checks"`
}

func (r *Report) add(name string, s Status, finding, remedy string) {
	r.Checks = append(r.Checks, Check{name, s, finding, remedy})
}

// width is where findings are wrapped.
const width = 90

// Text is a table for a terminal, with the remedies below it.
func (r *Report) Text() string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.SetColumnConfigs([]table.ColumnConfig{{Name: "finding", WidthMax: width, WidthMaxEnforcer: text.WrapSoft}})
	t.AppendHeader(table.Row{"check", "status", "finding"})
	remedies := ""
	for _, c := range r.Checks {
		t.AppendRow(table.Row{c.Name, c.Status, c.Finding})
		if c.Remedy != "" {
			remedies += fmt.Sprintf("%s: %s\n", c.Name, c.Remedy)
		}
	}
	end := "a run could work, with brokers as " + map[string]string{"container": "containers", "process": "processes"}[r.Runtime] + "\n"
	if !r.Fit {
		end = "a run could not work: see what is missing\n"
	}
	return t.Render() + "\n" + remedies + end
}
