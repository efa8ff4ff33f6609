package gate

import (
	"strings"
	"time"
)

// phases are the parts of a test's time, in their order, and what people call them.
var phases = []struct{ name, words string }{
	{"prepare", "download and images"},
	{"queue", "waiting for other starts"},
	{"start", "start"},
	{"scenario", "fault and observation"},
	{"recovery", "recovery"},
	{"cleanup", "clean-up"},
}

// Spent is a part of a time.
type Spent struct {
	// What is what people call it: "clean-up".
	What string
	MS   int64
}

// Spent says where the time of the cell's test went; nothing if the test does not say.
func (c Cell) Spent() []Spent {
	if len(c.SpentMS) == 0 {
		return nil
	}
	return parts(c.SpentMS)
}

// Spent says where the time of all cells went, summed up over tests that ran side by side,
// and how long they took to build; nothing if no cell says.
func (r *Report) Spent() []Spent {
	sums := map[string]int64{}
	for _, c := range r.Cells {
		for name, ms := range c.SpentMS {
			sums[name] += ms
		}
	}
	if len(sums) == 0 {
		return nil
	}
	return append([]Spent{{"build", r.BuildMS}}, parts(sums)...)
}

func parts(of map[string]int64) []Spent {
	var all []Spent
	for _, p := range phases {
		all = append(all, Spent{p.words, of[p.name]})
	}
	return all
}

// spent is Spent in a line; "" if no cell says.
func (r *Report) spent() string {
	var words []string
	for _, s := range r.Spent() {
		words = append(words, s.What+" "+seconds(s.MS))
	}
	if len(words) == 0 {
		return ""
	}
	return "time, summed over the tests: " + strings.Join(words, ", ")
}

func seconds(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}
