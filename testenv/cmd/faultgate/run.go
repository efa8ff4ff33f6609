package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
)

type run struct {
	options
	clients, brokers []string
	parallel         int
}

func newRun() *cobra.Command {
	var r run
	c := &cobra.Command{
		Use:   "run [flags] [-- go test flags]",
		Short: "run cases and print a verdict table",
		Args:  noArguments,
		RunE:  r.run,
	}
	r.add(c)
	r.addVersions(c)
	r.addFiles(c)
	c.Flags().IntVar(&r.parallel, "parallel", suite.AtOnce(), "how many combinations of versions to run at a time; the default is what processors and memory have room for")
	return c
}

// addVersions adds what a grid is made of.
func (r *run) addVersions(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&r.clients, "client", nil, "run with this client: MODULE=VERSION[,VERSION...], once for each module")
	f.StringArrayVar(&r.brokers, "broker", nil, "run on this broker: pulsar, kafka or rocketmq=VERSION[,VERSION...]")
}

func (r *run) run(c *cobra.Command, goTestFlags []string) error {
	if r.parallel < 1 {
		return fmt.Errorf("--parallel %d: it takes a number from 1 on", r.parallel)
	}
	sets, err := suite.Sets(r.clients, r.brokers)
	if err != nil {
		return err
	}
	picks := r.pattern != "" || len(r.clients) > 0 || len(r.brokers) > 0
	if picks {
		if err := ownTests(goTestFlags, "--case, --client or --broker, which pick the tests themselves"); err != nil {
			return err
		}
	}
	s, err := r.suite(c, goTestFlags)
	if err != nil {
		return err
	}
	if picks {
		cases, err := r.selected(c, s, sets[0])
		if err != nil {
			return err
		}
		s = s.Only(cases)
	}
	report := s.Grid(c.Context(), sets, r.parallel)
	if err := report.Refused(); err != nil {
		return err
	}
	all, err := ofReport(report)
	if err != nil {
		return err
	}
	return r.print(c, all, report.ExitCode())
}

// selected are the cases of the pattern that are about these clients and brokers.
func (r *run) selected(c *cobra.Command, s *suite.Suite, set suite.Set) (gate.Catalogue, error) {
	modules := set.Modules()
	if err := s.Requires(c.Context(), modules...); err != nil {
		return nil, err
	}
	cases, err := r.catalogue(c, s)
	if err != nil {
		return nil, err
	}
	if err := covered(cases, modules); err != nil {
		return nil, err
	}
	if len(modules) > 0 {
		cases = cases.Of(modules...)
	}
	if cases = suite.About(cases, set.Brokers); len(cases) == 0 {
		_, _ = fmt.Fprintln(c.ErrOrStderr(), "faultgate: no case that was picked runs on the broker of --broker; faultgate list tells what they are about")
		return nil, exit(gate.ExitNothingRan)
	}
	return cases, nil
}
