package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// List is the catalogue of the cases. It runs the tests with BROKERFAULT_LIST=1, in
// which no broker is started.
func (s *Suite) List(ctx context.Context) (gate.Catalogue, error) {
	listing := *s
	listing.Env = append(slices.Clone(s.Env), "BROKERFAULT_LIST=1", "BROKERFAULT_REQUIRE=0")
	listing.Flags, listing.Artifacts, listing.Finished = []string{"-short"}, "", nil
	_, _ = fmt.Fprintln(s.Stderr, "list the cases of", strings.Join(s.Packages, " "))
	listing.Packages = s.scenarios(ctx)
	r, err := listing.run(ctx, Set{})
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("list the cases: %w", err)
	}
	// A catalogue that lacks a package's cases would say of them that there are none.
	for _, f := range r.Environment {
		return nil, fmt.Errorf("list the cases: %s", f.Output)
	}
	c, err := gate.NewCatalogue(r)
	if err != nil {
		return nil, fmt.Errorf("list the cases: %w", err)
	}
	if len(c) == 0 {
		return nil, errors.New("list the cases: no test tells of one")
	}
	return c, nil
}

// scenarios are the packages whose tests are built on a package testenv: to list their
// cases the others need not be built and run. Where there are none, or the go command
// cannot tell, it is all packages, for a case may record itself.
func (s *Suite) scenarios(ctx context.Context) []string {
	quiet := *s
	quiet.Stderr = io.Discard // the run says it again
	text, err := quiet.goCommand(ctx, append([]string{"list", "-f", `{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}`}, s.Packages...)...)
	if err != nil {
		return s.Packages
	}
	var some []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		built := slices.ContainsFunc(words[1:], func(path string) bool { return strings.HasSuffix(path, "/testenv") && path != words[0] })
		if built {
			some = append(some, words[0])
		}
	}
	if len(some) == 0 {
		return s.Packages
	}
	return some
}

// Only narrows the suite down to the tests of these cases, and its reports to their cells.
func (s *Suite) Only(c gate.Catalogue) *Suite {
	one := *s
	one.only = c
	var packages, tests []string
	for _, e := range c {
		packages = append(packages, e.Package)
		for _, t := range e.Tests {
			// A subtest is run with its test: what else is in there is left out of the report.
			name, _, _ := strings.Cut(t, "/")
			tests = append(tests, regexp.QuoteMeta(name))
		}
	}
	slices.Sort(packages)
	slices.Sort(tests)
	one.Packages = slices.Compact(packages)
	one.Flags = append(slices.Clone(s.Flags), "-run", "^("+strings.Join(slices.Compact(tests), "|")+")$")
	return &one
}
