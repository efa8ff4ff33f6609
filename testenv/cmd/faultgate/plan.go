package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/shard"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
)

type plan struct {
	run
	shards int
	from   string
}

func newPlan() *cobra.Command {
	var p plan
	c := &cobra.Command{
		Use:   "plan --shards N [flags]",
		Short: "split a run into shards for the matrix of a CI job",
		Long: "plan splits what run would run with the same flags into shards of about the same length, and prints a\n" +
			"matrix: each \"args\" is what faultgate run is to be given in a shell. Tests that are no case are in no shard.",
		Args: arguments(0, 0, "no arguments; packages go into --packages"),
		RunE: func(c *cobra.Command, _ []string) error { return p.split(c) },
	}
	p.addCases(c)
	p.addVersions(c)
	f := c.Flags()
	f.IntVar(&p.shards, "shards", 0, "how many")
	f.StringVar(&p.from, "from", "", "balance by how long the cases took in this report, or in those below this directory")
	return c
}

// matrix is what a workflow of GitHub's reads with fromJSON.
type matrix struct {
	Include []include `json:"include"`
}

type include struct {
	Shard int    `json:"shard"`
	Args  string `json:"args"`
	Cells int    `json:"cells"`
	// ExpectedMS is there if durations were known.
	ExpectedMS int64 `json:"expected_ms,omitempty"`
}

func (p *plan) split(c *cobra.Command) error {
	if p.shards < 1 {
		return fmt.Errorf("--shards %d: it takes a number from 1 on", p.shards)
	}
	takes, known, err := p.durations(c)
	if err != nil {
		return err
	}
	sets, err := suite.Sets(p.clients, p.brokers)
	if err != nil {
		return err
	}
	s, err := p.suite(c, nil)
	if err != nil {
		return err
	}
	cases, err := p.selected(c, s, sets[0])
	if err != nil {
		return err
	}
	grid := shard.Grid{Axes: axes(sets)}
	for _, e := range cases {
		grid.Cases = append(grid.Cases, e.Case)
	}
	clients := len(sets[0].Clients)
	weigh := func(name string, versions []string) int64 { return takes(name, setOf(grid.Axes, versions, clients)) }
	var m matrix
	for i, g := range grid.Split(p.shards, weigh) {
		in := include{Shard: i + 1, Args: args(g, cases, clients), Cells: g.Cells()}
		if known {
			in.ExpectedMS = g.Expected(weigh)
		}
		m.Include = append(m.Include, in)
	}
	if n := len(m.Include); n < p.shards {
		_, _ = fmt.Fprintf(c.ErrOrStderr(), "faultgate: %d shards instead of %d, for there are no more cells\n", n, p.shards)
	}
	e := json.NewEncoder(c.OutOrStdout())
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	return nil
}

// durations are those of an earlier report, if it tells any.
func (p *plan) durations(c *cobra.Command) (takes func(string, suite.Set) int64, known bool, err error) {
	equal := func(string, suite.Set) int64 { return 1 }
	if p.from == "" {
		return equal, false, nil
	}
	r, err := gate.Read(p.from)
	if err != nil {
		return nil, false, fmt.Errorf("--from: %w", err)
	}
	d := r.Durations()
	if len(d) == 0 {
		_, _ = fmt.Fprintf(c.ErrOrStderr(), "faultgate: %s tells no durations, so shards have the same number of cells\n", p.from)
		return equal, false, nil
	}
	return func(name string, set suite.Set) int64 {
		if len(set.Clients)+len(set.Brokers) == 0 {
			return d.Of(name, "")
		}
		return d.Of(name, set.String())
	}, true, nil
}

// axes are the clients and the brokers of the sets, with the versions of each, once.
func axes(sets []suite.Set) []shard.Axis {
	var all []shard.Axis
	add := func(i int, name, version string) {
		if i == len(all) {
			all = append(all, shard.Axis{Name: name})
		}
		if !slices.Contains(all[i].Versions, version) {
			all[i].Versions = append(all[i].Versions, version)
		}
	}
	for _, s := range sets {
		for i, c := range s.Clients {
			add(i, c.Module, c.Version)
		}
		for i, b := range s.Brokers {
			add(len(s.Clients)+i, b.Name, b.Version)
		}
	}
	return all
}

// setOf is the set of one version of each axis, of which the first are clients.
func setOf(axes []shard.Axis, versions []string, clients int) suite.Set {
	var s suite.Set
	for i, v := range versions {
		if i < clients {
			s.Clients = append(s.Clients, suite.Client{Module: axes[i].Name, Version: v})
		} else {
			s.Brokers = append(s.Brokers, suite.Broker{Name: axes[i].Name, Version: v})
		}
	}
	return s
}

// args are the flags of run that name the shard, as a shell takes them.
func args(g shard.Grid, cases gate.Catalogue, clients int) string {
	var packages, names []string
	for _, e := range cases {
		if slices.Contains(g.Cases, e.Case) {
			packages = append(packages, e.Package)
			names = append(names, regexp.QuoteMeta(e.Case))
		}
	}
	slices.Sort(packages)
	words := []string{"-packages", strings.Join(slices.Compact(packages), ","), "-case", "^(" + strings.Join(names, "|") + ")$"}
	for i, a := range g.Axes {
		flag := "-broker"
		if i < clients {
			flag = "-client"
		}
		words = append(words, flag, a.Name+"="+strings.Join(a.Versions, ","))
	}
	return shellescape.QuoteCommand(words)
}
