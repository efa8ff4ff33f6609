package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/htmlreport"
	"github.com/brokerfault/brokerfault/testenv/internal/junitxml"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
	"github.com/brokerfault/brokerfault/testenv/internal/trackrecord"
)

func newControls() *cobra.Command {
	var o options
	var record string
	c := &cobra.Command{
		Use:   "controls [flags] [-- go test flags]",
		Short: "run every combination that a case lists as known-bad or known-good, and tell which is not so",
		Args:  noArguments,
		RunE: func(c *cobra.Command, goTestFlags []string) error {
			// A record that cannot be read or written is told now, not after an hour of runs.
			seen, err := trackrecord.Read(record)
			if err != nil {
				return err
			}
			if err := errors.Join(writable("--record", record), ownTests(goTestFlags, "controls, which picks the tests itself")); err != nil {
				return err
			}
			s, err := o.suite(c, goTestFlags)
			if err != nil {
				return err
			}
			cases, err := o.catalogue(c, s)
			if err != nil {
				return err
			}
			if len(grouped(cases)) == 0 {
				_, _ = fmt.Fprintln(c.ErrOrStderr(), "faultgate: no case that was picked lists a known-bad or known-good combination")
				return exit(gate.ExitNothingRan)
			}
			controls, report, err := runControls(c, s, cases)
			if err != nil {
				return err
			}
			n := controls.ExitCode()
			if record != "" {
				if err := seen.With(controls, time.Now(), s.Revision()).Write(record); err != nil {
					_ = environment(c, err) // it says so
					n = cmp.Or(n, gate.ExitEnvironment)
				}
			}
			return o.print(c, shown{
				result: controls, text: controls.Text(), markdown: controls.Markdown,
				page:  &htmlreport.Page{Title: controls.Title(), Code: n, Report: report},
				junit: func(w io.Writer) error { return junitxml.WriteControls(w, controls) },
			}, n)
		},
	}
	o.add(c)
	o.addFiles(c)
	c.Flags().StringVar(&record, "record", "", "note in this file what was seen red, and keep what else is in it: "+
		"testenv/testdata/trackrecord.json is the repository's")
	return c
}

// group are the controls that one run can tell.
type group struct {
	set      suite.Set
	cases    gate.Catalogue
	controls gate.Controls
}

// runControls judges them, and gives all that their runs showed.
func runControls(c *cobra.Command, s *suite.Suite, cases gate.Catalogue) (gate.Controls, *gate.Report, error) {
	all, reports := gate.Controls{}, gate.NewReport()
	for _, g := range grouped(cases) {
		report := gate.NewReport()
		if report.Interrupted = c.Context().Err() != nil; !report.Interrupted {
			report = s.Only(g.cases).Run(c.Context(), g.set)
		}
		reports.Add(report)
		if err := reports.Refused(); err != nil {
			return nil, nil, err
		}
		for _, control := range g.controls {
			control.Judge(report)
			all = append(all, control)
		}
	}
	return all, reports, nil
}

// grouped puts together what runs with the same versions.
func grouped(cases gate.Catalogue) []*group {
	groups := map[string]*group{}
	var order []*group
	for _, e := range cases {
		for _, bad := range []bool{true, false} {
			listed := e.KnownGood
			if bad {
				listed = e.KnownBad
			}
			for _, at := range listed {
				set := suite.SetOf(e, at)
				key := set.String()
				if groups[key] == nil {
					groups[key] = &group{set: set}
					order = append(order, groups[key])
				}
				g := groups[key]
				if !g.cases.Named(e.Case) {
					g.cases = append(g.cases, e)
				}
				g.controls = append(g.controls, gate.Control{Case: e.Case, At: at, Bad: bad})
			}
		}
	}
	return order
}
