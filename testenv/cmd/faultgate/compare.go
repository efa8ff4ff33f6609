package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/htmlreport"
	"github.com/brokerfault/brokerfault/testenv/internal/junitxml"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
)

type compare struct {
	options
	base, head string
}

func newCompare() *cobra.Command {
	var p compare
	c := &cobra.Command{
		Use:   "compare --base go.mod --head go.mod [flags] [-- go test flags]",
		Short: "run the cases of the clients that two go.mod differ in, under both, and allow or block",
		Long: "compare takes the versions of the clients under test from two go.mod files, or from the go.mod of two\n" +
			"git revisions, runs the cases of those that differ under both, and says for each what changed.\n" +
			"It exits with 0 to allow, 1 to block, 3 if a verdict could not be reached.",
		Args: noArguments,
		RunE: p.run,
	}
	p.add(c)
	p.addFiles(c)
	f := c.Flags()
	f.StringVar(&p.base, "base", "", "the go.mod, or the git revision, before the change")
	f.StringVar(&p.head, "head", "go.mod", "the go.mod, or the git revision, after the change")
	return c
}

func (p *compare) run(c *cobra.Command, goTestFlags []string) error {
	if p.base == "" {
		return errors.New("--base is needed: the go.mod, or the git revision, before the change")
	}
	if err := ownTests(goTestFlags, "compare, which picks the tests itself"); err != nil {
		return err
	}
	s, err := p.suite(c, goTestFlags)
	if err != nil {
		return err
	}
	baseMod, err := suite.OpenModFile(c.Context(), p.base)
	if err != nil {
		return fmt.Errorf("--base: %w", err)
	}
	defer baseMod.Close()
	headMod, err := suite.OpenModFile(c.Context(), p.head)
	if err != nil {
		return fmt.Errorf("--head: %w", err)
	}
	defer headMod.Close()
	cases, err := p.catalogue(c, s)
	if err != nil {
		return err
	}
	base, err := versionsOf(c, "--base", baseMod, cases.Clients())
	if err != nil {
		return err
	}
	head, err := versionsOf(c, "--head", headMod, cases.Clients())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(cases.Clients(), func(m string) bool { return base[m] != "" && head[m] != "" }) {
		_, _ = fmt.Fprintf(c.ErrOrStderr(), "faultgate: nothing to compare: %s and %s have none of the clients under test in common: %s\n",
			p.base, p.head, strings.Join(cases.Clients(), ", "))
		return exit(gate.ExitNothingRan)
	}
	before, after := differing(cases.Clients(), base, head)
	if len(after.Clients) == 0 {
		const nothing = "allow: both have the same versions of the clients under test"
		none := &gate.Comparison{Changes: []gate.Change{}, Other: []gate.Failure{}}
		return p.print(c, shown{
			result: none, text: nothing + "\n", junit: junitOf(none),
			markdown: func() string { return "### " + nothing + "\n" },
			page:     &htmlreport.Page{Title: nothing, Report: gate.NewReport()},
		}, gate.ExitOK)
	}
	only := s.Only(cases.Of(after.Modules()...))
	b := only.Run(c.Context(), before)
	if err := b.Refused(); err != nil {
		return err
	}
	h := only.Run(c.Context(), after)
	result := gate.Compare(before.String(), after.String(), b, h)
	both := gate.NewReport()
	both.Add(b)
	both.Add(h)
	return p.print(c, shown{
		result: result, text: result.Text(), markdown: result.Markdown, junit: junitOf(result),
		page: &htmlreport.Page{Title: result.Title(), Code: result.ExitCode(), Lead: result.Closing(), Report: both},
	}, result.ExitCode())
}

func junitOf(r *gate.Comparison) func(io.Writer) error {
	return func(w io.Writer) error { return junitxml.WriteComparison(w, r) }
}

// versionsOf are the versions in a go.mod. One that cannot be resolved is no reason to
// allow anything.
func versionsOf(c *cobra.Command, flag string, source *suite.ModFile, modules []string) (map[string]string, error) {
	versions, err := source.Versions(c.Context(), modules)
	var unresolved *suite.Unresolved
	if errors.As(err, &unresolved) {
		return nil, environment(c, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return versions, nil
}

// differing are the clients that both have, in another version each. One that only one
// side has is no bump, and nothing to compare with.
func differing(modules []string, base, head map[string]string) (before, after suite.Set) {
	for _, m := range modules {
		if base[m] == "" || head[m] == "" || strings.EqualFold(base[m], head[m]) {
			continue
		}
		before.Clients = append(before.Clients, suite.Client{Module: m, Version: base[m]})
		after.Clients = append(after.Clients, suite.Client{Module: m, Version: head[m]})
	}
	return before, after
}
