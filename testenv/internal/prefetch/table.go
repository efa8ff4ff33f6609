package prefetch

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const mega = 1 << 20

// Text is a table for a terminal, with what is not there below it.
func (r Result) Text() string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{"what", "of", "state", "size", "time", "where"})
	var bytes int64
	there, errors := 0, ""
	for _, i := range r.Items {
		state, size := "there", ""
		if i.Bytes > 0 {
			size = fmt.Sprintf("%d MB", i.Bytes/mega)
		}
		if i.Error != "" {
			state = "not there"
			errors += fmt.Sprintf("%s: %s\n", i, i.Error)
		} else {
			there++
			bytes += i.Bytes
		}
		t.AppendRow(table.Row{i.What, i.Of, state, size, (time.Duration(i.TookMS) * time.Millisecond).Round(100 * time.Millisecond), i.Where})
	}
	end := fmt.Sprintf("%d of %d are there; the brokers take %d MB", there, len(r.Items), bytes/mega)
	if r.Interrupted {
		end += "; interrupted, so this is not all"
	}
	return t.Render() + "\n" + errors + end + "\n"
}
