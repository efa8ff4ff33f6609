package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

// run is what is run once in a grid: a test with one set of versions on one runtime.
type run struct{ pkg, test, with, client, broker, runtime string }

func runOf(c Cell) run {
	return run{c.Package, c.Test, c.With, c.ClientVersion, c.BrokerVersion, c.Runtime}
}

func (r run) String() string {
	s := r.pkg + " " + r.test
	for _, word := range []struct{ name, value string }{
		{"client", r.client}, {"broker", r.broker}, {"runtime", r.runtime}, {"asked for", r.with},
	} {
		if word.value != "" {
			s += ", " + word.name + " " + word.value
		}
	}
	return s
}

// Merge joins the reports of shards. It refuses those that have the same cell: one file
// given twice, or shards of different plans.
func Merge(files []string) (*Report, error) {
	all := NewReport()
	from := map[run]string{}
	var errs []error
	for _, file := range files {
		r, err := readFile(file)
		if err != nil {
			return nil, err
		}
		for _, c := range r.Cells {
			// What was not run before it had a runtime may be told by each runtime's run.
			if c.Verdict == evidence.NotRun && c.Runtime == "" {
				continue
			}
			if other, is := from[runOf(c)]; is {
				errs = append(errs, fmt.Errorf("%s and %s both have the cell %s (%s)", other, file, c.Case, runOf(c)))
				break
			}
		}
		for _, c := range r.Cells {
			from[runOf(c)] = file
		}
		all.Add(r)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("%w; give each shard's report of one plan once", errors.Join(errs...))
	}
	slices.SortStableFunc(all.Cells, func(a, b Cell) int {
		return cmp.Or(strings.Compare(a.Case, b.Case), strings.Compare(a.With, b.With))
	})
	return all, nil
}
