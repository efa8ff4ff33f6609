package htmlreport

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

// timeline is what a test's waits were, drawn to one scale.
type timeline struct {
	Entries []entry
	Phases  []phase
	Faults  []span
	Ticks   []tick
	// Length is the scale's, in words.
	Length string
	end    int64
}

type entry struct{ At, Kind, Text string }

// phase is a wait: what it is in a scenario's life, and when it was.
type phase struct {
	span
	Kind, Word, Name string
	// Took and Budget are in words; Took is empty if it did not come true.
	Took, Budget string
	ended        bool
}

// span is a stretch of the timeline.
type span struct {
	from, to int64
	of       *timeline
}

// X and Width are where it is on the scale. What is too short to be seen is widened.
func (s span) X() string { return percent(min(s.share(s.from), 100-least)) }

// Width is at least as much as can be seen.
func (s span) Width() string { return percent(max(s.share(s.to-s.from), least)) }

const least = 0.6

func (s span) share(ms int64) float64 { return 100 * float64(ms) / float64(s.of.end) }

// Text is for who does not see the bar.
func (s span) Text() string { return "from " + duration(s.from) + " to " + duration(s.to) }

type tick struct{ X, Anchor, Text string }

// words of the phases; the keys are the classes of the style sheet.
var words = map[string]string{
	"start": "start", "healthy": "healthy", "fault": "fault", "observe": "observation",
	"heal": "heal", "recover": "recovery", "steady": "steady", "witness": "witness",
}

// readTimeline reads what is there: timeline.json, or the text alone of a run that
// wrote no more.
func readTimeline(dir string) (*timeline, string) {
	if dir == "" {
		return nil, ""
	}
	text, err := readRegular(filepath.Join(dir, "timeline.json"))
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = readRegular(filepath.Join(dir, "timeline.txt")); err == nil {
			return nil, shown(string(text))
		}
		return nil, ""
	}
	var was evidence.Record
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	if err != nil {
		return nil, "timeline.json cannot be read: " + err.Error()
	}
	if len(was.Entries) == 0 {
		return nil, "timeline.json has no entries"
	}
	return draw(was.Entries), ""
}

func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	return os.ReadFile(path)
}

func draw(entries []evidence.Entry) *timeline {
	t := &timeline{}
	for _, e := range entries {
		t.Entries = append(t.Entries, entry{duration(e.AtMS), e.Kind, e.Text})
		t.end = max(t.end, e.AtMS, 1)
	}
	lasting := lie(entries)
	injected := false
	for _, e := range entries {
		ends := e.Wait != nil && e.Wait.TookMS != nil
		if e.Kind == "verdict" || e.Kind == "witness" && !ends {
			t.cut(e.AtMS)
		}
		switch {
		case ends:
			t.close(e)
		case e.Wait != nil:
			kind := kindOf(e, injected, lasting)
			if kind == "" {
				continue
			}
			injected = injected || kind == "fault"
			p := phase{span: span{e.AtMS, t.end, t}, Kind: kind, Word: words[kind], Name: e.Wait.Name}
			if e.Wait.BudgetMS > 0 {
				p.Budget = duration(e.Wait.BudgetMS)
			}
			t.Phases = append(t.Phases, p)
		}
	}
	// What comes after the last phase, the clean-up, is not what the chart is about.
	end := int64(1)
	for _, p := range t.Phases {
		end = max(end, p.to)
	}
	t.end = end
	for _, l := range lasting {
		t.Faults = append(t.Faults, span{l[0], min(l[1], end), t})
	}
	t.Length = duration(t.end)
	t.Ticks = ticks(t.end)
	return t
}

// close ends the latest wait of the name.
func (t *timeline) close(e evidence.Entry) {
	for i := len(t.Phases) - 1; i >= 0; i-- {
		p := &t.Phases[i]
		if p.ended || p.Name != e.Wait.Name {
			continue
		}
		p.ended, p.to, p.Took = true, e.AtMS, duration(*e.Wait.TookMS)
		// The clock of a recovery started at the healing, which was before the asking.
		p.from = max(0, min(p.from, e.AtMS-*e.Wait.TookMS))
		return
	}
}

// cut ends what has not come true by now: the verdict, or the question to the witness,
// says that it was given up.
func (t *timeline) cut(at int64) {
	for i := range t.Phases {
		if p := &t.Phases[i]; !p.ended {
			p.to = min(p.to, at)
		}
	}
}

// lie are the stretches in which a fault lay on the broker. One that is never healed
// was over by itself.
func lie(entries []evidence.Entry) [][2]int64 {
	var all [][2]int64
	for i, e := range entries {
		if e.Kind != "fault" || e.Wait == nil || e.Wait.TookMS == nil {
			continue
		}
		for _, later := range entries[i:] {
			if later.Kind == "heal" && later.Wait != nil && later.Wait.TookMS != nil && later.Wait.Name == e.Wait.Name ||
				later.Kind == "cleanup" && strings.HasPrefix(later.Text, "heal "+e.Wait.Name+":") {
				all = append(all, [2]int64{e.AtMS, later.AtMS})
				break
			}
		}
	}
	return all
}

// kindOf is what a wait is in the life of a scenario: healthy, fault, observation, heal,
// recovery, steady.
func kindOf(e evidence.Entry, injected bool, lasting [][2]int64) string {
	switch e.Kind {
	case "broker":
		return "start"
	case "fault", "heal", "witness":
		return e.Kind
	case "recovers":
		return "recover"
	case "within", "holding":
		for _, l := range lasting {
			if l[0] <= e.AtMS && e.AtMS < l[1] {
				return "observe"
			}
		}
		if injected {
			return "steady"
		}
		return "healthy"
	}
	return ""
}

// ticks are four to eight round numbers of seconds, and the axis's beginning.
func ticks(end int64) []tick {
	steps := []int64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_200_000, 3_600_000}
	step := steps[len(steps)-1]
	for _, s := range steps {
		if end/s <= 6 {
			step = s
			break
		}
	}
	step = max(step, end/8)
	var all []tick
	for at := int64(0); at <= end; at += step {
		t := tick{percent(100 * float64(at) / float64(end)), "middle", strings.Replace(duration(at), ".00", "", 1)}
		switch {
		case at == 0:
			t.Anchor, t.Text = "start", "0"
		case at > end-step/4:
			t.Anchor = "end"
		}
		all = append(all, t)
	}
	return all
}
