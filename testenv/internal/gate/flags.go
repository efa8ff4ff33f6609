package gate

import (
	"fmt"
	"slices"
)

// FlagsRefused is what go test, or a test's binary, has said of flags that it does not take.
type FlagsRefused string

func (r FlagsRefused) Error() string {
	return fmt.Sprintf("the flags of go test behind --: %s; go help testflag lists those that there are", string(r))
}

// Refused is of type FlagsRefused if a package's tests ended over their flags and none of
// any package ran: then the command line is wrong, and nothing else was seen.
func (r *Report) Refused() error {
	if r.flagsRefused == "" || len(r.Cells) > 0 {
		return nil
	}
	return r.flagsRefused
}

// flagsRefused are the words of a package whose tests printed their usage, if no test ran.
func (c *Collector) flagsRefused() FlagsRefused {
	if slices.ContainsFunc(c.order, func(t *test) bool { return t.name != "" }) {
		return ""
	}
	for _, p := range c.order {
		if p.result == failed && p.refused != "" {
			return FlagsRefused(p.refused)
		}
	}
	return ""
}
