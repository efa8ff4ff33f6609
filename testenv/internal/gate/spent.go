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

// spent says where the time of all cells went, summed up over tests that ran side
// by side; "" if no cell says.
func (r *Report) spent() string {
	sums := map[string]int64{}
	for _, c := range r.Cells {
		for name, ms := range c.SpentMS {
			sums[name] += ms
		}
	}
	if len(sums) == 0 {
		return ""
	}
	parts := []string{"build " + seconds(r.BuildMS)}
	for _, p := range phases {
		parts = append(parts, p.words+" "+seconds(sums[p.name]))
	}
	return "time, summed over the tests: " + strings.Join(parts, ", ")
}

func seconds(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}
