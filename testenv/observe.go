package testenv

import (
	"context"
	"regexp"

	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

// mostProbes bounds what one wait writes to the timeline.
const mostProbes = 20

// digits tell one connection's error from the next one's, and nothing more.
var digits = regexp.MustCompile(`\d+`)

// observed notes in the timeline what comes of a wait's probes, as often as that changes.
func (e *Env) observed(probe Probe) poll.Probe {
	last, noted := "", 0
	return func(ctx context.Context) error {
		err := probe(ctx)
		kind := "succeeds"
		if err != nil {
			kind = digits.ReplaceAllString(err.Error(), "#")
		}
		if kind == last || noted == mostProbes {
			return err
		}
		last = kind
		noted++
		if err != nil {
			e.timeline.Add("probe", "fails: %v", oneLine(err.Error()))
		} else {
			e.timeline.Add("probe", "succeeds")
		}
		return err
	}
}
