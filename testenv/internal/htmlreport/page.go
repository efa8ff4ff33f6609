package htmlreport

import (
	"cmp"
	_ "embed" // the template and its style
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// Page is what the page tells.
type Page struct {
	Report *gate.Report
	// Title and Code, an exit code, are what the page says at its top. An empty title
	// leaves both to the report.
	Title string
	Code  int
	// Lead is a sentence below it, or empty.
	Lead string
	// Dir is where the page will be: links to artifacts are relative to it. Empty is
	// the current directory.
	Dir string
	// Made is when it was made; zero leaves that out.
	Made time.Time
}

var (
	//go:embed page.html
	source string
	//go:embed page.css
	style string

	layout = template.Must(template.New("page").Parse(source))
)

// Write writes the page.
func Write(w io.Writer, p Page) error {
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return fmt.Errorf("find the directory of the page: %w", err)
	}
	if err := layout.Execute(w, viewOf(p, dir)); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// view is what the template is given.
type view struct {
	Style       template.CSS
	Title, Lead string
	Size        string
	Times       []part
	Made        time.Time
	Mood        mood
	Interrupted bool
	Tiles       []tile
	Attention   []*cell
	Grids       []grid
	Cases       []section
	Failures    []gate.Failure
	Environment []gate.Failure
}

// tile is a count of the summary.
type tile struct {
	Mood
	Count int
}

// section is a case with its cells.
type section struct {
	Name, Issue, Claim string
	Cells              []*cell
}

// conclusions are what the exit code of the run says.
var conclusions = map[int]struct {
	text string
	mood mood
}{
	gate.ExitOK:          {"All is as it should be", good},
	gate.ExitFailed:      {"A test beside the cases failed", bad},
	gate.ExitEnvironment: {"The environment kept a verdict from being reached", untold},
	gate.ExitNothingRan:  {"No case ran", none},
}

func viewOf(p Page, dir string) view {
	r := p.Report
	if p.Title == "" {
		p.Code = r.ExitCode()
	}
	end := conclusions[p.Code]
	v := view{
		Style: template.CSS(style), Title: p.Title, Mood: end.mood, Lead: p.Lead, Made: p.Made, Times: partsOf(r.Spent()),
		Interrupted: r.Interrupted, Failures: r.Failures, Environment: r.Environment,
	}
	counts := map[gate.Outcome]int{}
	var cells []*cell
	for i, c := range r.Cells {
		counts[c.Outcome()]++
		cells = append(cells, cellOf(c, i+1, dir))
	}
	for _, m := range moods {
		if n := counts[m.outcome]; n > 0 {
			v.Tiles = append(v.Tiles, tile{m.Mood, n})
		}
	}
	for _, c := range cells {
		if c.Mood.Class == bad || c.Mood.Class == untold {
			v.Attention = append(v.Attention, c)
		}
	}
	slices.SortStableFunc(v.Attention, func(a, b *cell) int { return cmp.Compare(a.rank, b.rank) })
	v.Grids = grids(cells)
	v.Cases = sections(cells)
	v.Size = size(len(cells), "result") + " of " + size(len(v.Cases), "case") + "."
	if n := counts[gate.Failed]; v.Title == "" && n > 0 {
		v.Title = fmt.Sprintf("%d of %s failed", n, size(len(cells), "result"))
	}
	v.Title = cmp.Or(v.Title, end.text)
	return v
}

func size(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

func sections(cells []*cell) []section {
	byName := map[string]*section{}
	var order []string
	for _, c := range cells {
		s := byName[c.Case]
		if s == nil {
			s = &section{Name: c.Case}
			byName[c.Case] = s
			order = append(order, c.Case)
		}
		s.Cells = append(s.Cells, c)
		s.Claim = cmp.Or(s.Claim, c.claim())
		if strings.HasPrefix(c.Issue, "https://") {
			s.Issue = c.Issue
		}
	}
	slices.Sort(order)
	var all []section
	for _, name := range order {
		all = append(all, *byName[name])
	}
	return all
}
