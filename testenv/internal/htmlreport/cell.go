package htmlreport

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// mood is the class that the style sheet knows an outcome by.
type mood string

const (
	good   mood = "good"
	bad    mood = "bad"
	untold mood = "untold"
	listed mood = "listed"
	none   mood = "none"
)

// Mood is how an outcome looks: never by color alone.
type Mood struct {
	Class      mood
	Mark, Word string
}

var moods = []struct {
	outcome gate.Outcome
	Mood
}{
	{gate.Failed, Mood{bad, "✗", "failed"}},
	{gate.Untold, Mood{untold, "!", "environment"}},
	{gate.FailsAsListed, Mood{listed, "≈", "fails as listed"}},
	{gate.LeftOut, Mood{none, "–", "not run"}},
	{gate.Held, Mood{good, "✓", "recovered"}},
}

// cell is a gate's cell with what its artifacts tell.
type cell struct {
	gate.Cell
	ID   string
	Mood Mood
	rank int
	// Versions are the client and the broker, in words.
	Versions  string
	Recovery  *meter
	Elapsed   string
	Times     []part
	Counts    []count
	Artifacts artifacts
	Timeline  *timeline
	// TimelineText is what there is of it where it cannot be drawn.
	TimelineText string
}

// part is a part of the time that tests took.
type part struct{ What, Time string }

func partsOf(spent []gate.Spent) []part {
	var all []part
	for _, s := range spent {
		all = append(all, part{s.What, duration(s.MS)})
	}
	return all
}

// count is a piece of evidence.
type count struct {
	Name string
	N    int64
}

// meter is a recovery against its budget.
type meter struct {
	Text string
	// Width is the bar's, of the budget's.
	Width string
	Mood  mood
}

func cellOf(c gate.Cell, number int, dir string) *cell {
	v := &cell{Cell: c, ID: fmt.Sprintf("cell-%d", number)}
	v.rank = slices.IndexFunc(moods, func(m struct {
		outcome gate.Outcome
		Mood
	}) bool {
		return m.outcome == c.Outcome()
	})
	v.Mood = moods[v.rank].Mood
	client := strings.TrimSpace(c.ClientName() + " " + c.ClientVersion)
	if broker := strings.TrimSpace(c.Broker + " " + c.BrokerVersion); broker == "" {
		v.Versions = client
	} else {
		v.Versions = strings.TrimPrefix(client+" on "+broker, " on ")
	}
	v.Recovery = meterOf(c)
	if c.ElapsedMS > 0 {
		v.Elapsed = duration(c.ElapsedMS)
	}
	v.Times = partsOf(c.Spent())
	for _, name := range slices.Sorted(maps.Keys(c.Evidence)) {
		v.Counts = append(v.Counts, count{strings.ReplaceAll(name, "_", " "), c.Evidence[name]})
	}
	lines := 12
	if v.Open() {
		lines = 40
	}
	v.Artifacts = look(c.Artifacts, dir, lines)
	v.Timeline, v.TimelineText = readTimeline(c.Artifacts)
	return v
}

// Open says that the cell is shown unfolded: something is to be seen there.
func (c *cell) Open() bool { return c.Mood.Class == bad || c.Mood.Class == untold }

// claim is what the case says of itself at the timeline's beginning.
func (c *cell) claim() string {
	if c.Timeline == nil {
		return ""
	}
	for _, e := range c.Timeline.Entries {
		if claim, is := strings.CutPrefix(e.Text, c.Case+": "); is && e.Kind == "case" {
			return claim
		}
	}
	return ""
}

func meterOf(c gate.Cell) *meter {
	if c.BudgetMS == nil || *c.BudgetMS <= 0 {
		return nil
	}
	budget := *c.BudgetMS
	switch {
	case c.RecoveryMS != nil:
		share := 100 * float64(*c.RecoveryMS) / float64(budget)
		return &meter{
			Text:  fmt.Sprintf("recovered in %s of %s, %.0f%% of the budget", duration(*c.RecoveryMS), duration(budget), share),
			Width: percent(min(share, 100)), Mood: good,
		}
	case c.Verdict == evidence.NotRecovered:
		return &meter{Text: "not recovered within " + duration(budget), Width: "100%", Mood: bad}
	}
	return nil
}

func percent(f float64) string { return fmt.Sprintf("%.2f%%", f) }

// duration is "940 ms", "12.3 s" or "4 min 18 s", which no line's end breaks.
func duration(ms int64) string {
	const space = "\u00a0"
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d"+space+"ms", ms)
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f"+space+"s", d.Seconds())
	case d < 2*time.Minute:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + space + "s"
	}
	d = d.Round(time.Second)
	words := fmt.Sprintf("%d"+space+"min", d/time.Minute)
	if s := d % time.Minute; s > 0 {
		words += fmt.Sprintf(space+"%d"+space+"s", s/time.Second)
	}
	return words
}

// RecoveryTime is "1.87 s of 30 s", or empty.
func (c *cell) RecoveryTime() string {
	switch {
	case c.RecoveryMS != nil && c.BudgetMS != nil:
		return duration(*c.RecoveryMS) + " of " + duration(*c.BudgetMS)
	case c.BudgetMS != nil && c.Verdict == evidence.NotRecovered:
		return "not within " + duration(*c.BudgetMS)
	}
	return ""
}
