package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
)

type bisect struct {
	options
	module, good, bad string
	versions          []string
}

func newBisect() *cobra.Command {
	var b bisect
	c := &cobra.Command{
		Use:   "bisect --case CASE --client MODULE --good V --bad V [flags] [-- go test flags]",
		Short: "find the first release of a client that breaks or heals a case, by running it",
		Args:  noArguments,
		RunE:  b.run,
	}
	b.add(c)
	f := c.Flags()
	f.StringVar(&b.module, "client", "", "the client's module")
	f.StringVar(&b.good, "good", "", "a version with which the case recovers")
	f.StringVar(&b.bad, "bad", "", "a version with which it does not")
	f.StringSliceVar(&b.versions, "versions", nil, "the releases to look among; the go command's list by default")
	return c
}

// found is what bisect prints.
type found struct {
	Case   string `json:"case"`
	Client string `json:"client"`
	// First is the first release after Last that is as the newer end.
	First string `json:"first"`
	Last  string `json:"last"`
	// Heals says that First recovers and Last does not; else First broke it.
	Heals bool `json:"heals"`
	// Releases are those that were looked among, oldest first.
	Releases []string `json:"releases"`
	// Untold are those between Last and First that could not be run.
	Untold []string `json:"untold,omitempty"`
}

func (f found) String() string {
	word := "breaks"
	if f.Heals {
		word = "heals"
	}
	text := fmt.Sprintf("%s: %s %s is the first release that %s it, of %s; %s is not so\n",
		f.Case, f.Client, f.First, word, strings.Join(f.Releases, ", "), f.Last)
	if len(f.Untold) > 0 {
		text += fmt.Sprintf("not told, as it could not be run: %s\n", strings.Join(f.Untold, ", "))
	}
	return text
}

func (b *bisect) run(c *cobra.Command, goTestFlags []string) error {
	if b.pattern == "" || b.module == "" || b.good == "" || b.bad == "" {
		return errors.New("--case, --client, --good and --bad are all needed")
	}
	if err := errors.Join(suite.CheckReleases(b.good, b.bad, b.versions), ownTests(goTestFlags, "bisect, which picks the tests itself")); err != nil {
		return err
	}
	s, err := b.suite(c, goTestFlags)
	if err != nil {
		return err
	}
	if err := s.Requires(c.Context(), b.module); err != nil {
		return err
	}
	cases, err := b.catalogue(c, s)
	if err != nil {
		return err
	}
	if len(cases) > 1 {
		return fmt.Errorf("--case %q matches %d cases; it takes one, as ^%s$", b.pattern, len(cases), cases[0].Case)
	}
	if err := covered(cases, []string{b.module}); err != nil {
		return err
	}
	releases, err := s.Releases(c.Context(), b.module, b.versions, b.good, b.bad)
	if err != nil {
		return err
	}
	only := s.Only(cases)
	recovers := func(version string) (bool, error) {
		return verdictOf(only.Run(c.Context(), suite.Set{Clients: []suite.Client{{Module: b.module, Version: version}}}))
	}
	last, first, err := firstChange(c.Context(), releases, b.good, recovers)
	var refused gate.FlagsRefused
	if errors.As(err, &refused) {
		return err
	}
	if err != nil {
		return environment(c, err)
	}
	result := found{Case: cases[0].Case, Client: b.module, First: releases[first], Last: releases[last], Heals: releases[0] == b.bad,
		Releases: releases, Untold: releases[last+1 : first]}
	return b.print(c, shown{result: result, text: result.String()}, gate.ExitOK)
}

// verdictOf says whether all tests of a report recovered.
func verdictOf(r *gate.Report) (bool, error) {
	for _, cell := range r.Cells {
		switch cell.Verdict {
		case evidence.NotRecovered:
			return false, nil
		case evidence.Recovered:
		default:
			return false, fmt.Errorf("%s with %s: %s", cell.Case, cell.ClientVersion, cell.Reason)
		}
	}
	if err := r.Refused(); err != nil {
		return false, err
	}
	if len(r.Cells) == 0 {
		if len(r.Environment) > 0 {
			return false, errors.New(r.Environment[0].Output)
		}
		return false, errors.New("no test of the case ran")
	}
	return true, nil
}

// firstChange finds the index of the first release that is as the last one, which
// differs from the first one, and of the last before it that was seen to differ: what
// lies between could not be run. Both ends are run, not believed.
func firstChange(ctx context.Context, releases []string, good string, recovers func(string) (bool, error)) (last, first int, err error) {
	low, high := 0, len(releases)-1
	for _, end := range []int{low, high} {
		got, err := recovers(releases[end])
		if err != nil {
			return 0, 0, err
		}
		if want := releases[end] == good; got != want {
			return 0, 0, fmt.Errorf("%s was given as %s, but is not so", releases[end], map[bool]string{true: "good", false: "bad"}[want])
		}
	}
	heals, untold := releases[high] == good, map[int]bool{}
	for {
		var left []int
		for i := low + 1; i < high; i++ {
			if !untold[i] {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return low, high, nil
		}
		middle := left[len(left)/2]
		switch got, err := recovers(releases[middle]); {
		case ctx.Err() != nil:
			return 0, 0, fmt.Errorf("interrupted between %s and %s", releases[low], releases[high])
		case err != nil:
			untold[middle] = true // what it says was told as it ran
		case got == heals:
			high = middle
		default:
			low = middle
		}
	}
}
