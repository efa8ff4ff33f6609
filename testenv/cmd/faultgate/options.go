package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/settings"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
)

// options are the flags that several commands have.
type options struct {
	output
	packages  []string
	pattern   string
	runtime   string
	profile   string
	artifacts string

	named *regexp.Regexp // pattern, once suite has read it
}

func (o *options) add(c *cobra.Command) {
	o.addCases(c)
	o.addJSON(c)
	f := c.Flags()
	f.StringVar(&o.runtime, "runtime", "", "where brokers run: auto, container or process (BROKERFAULT_BACKEND)")
	f.StringVar(&o.profile, "profile", "", "fast or full (BROKERFAULT_PROFILE)")
	f.StringVar(&o.artifacts, "artifacts", "", "keep what the tests leave behind in this directory")
}

// addCases adds what picks the cases.
func (o *options) addCases(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&o.packages, "packages", []string{"./..."}, "the packages to test")
	f.StringVar(&o.pattern, "case", "", "only cases whose name matches this regular expression")
}

// suite is the module that the command runs in, or the one that it was built of. What is
// wrong with the flags is told now, before anything slow.
func (o *options) suite(c *cobra.Command, goTestFlags []string) (*suite.Suite, error) {
	env, err := o.environment()
	if err != nil {
		return nil, err
	}
	// What every test would say, after it was built.
	if _, err := settings.Parse(append(os.Environ(), env...)); err != nil {
		return nil, err
	}
	if o.named, err = regexp.Compile(o.pattern); err != nil {
		return nil, fmt.Errorf("--case %q: %w", o.pattern, err)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	stderr := &lines{w: c.ErrOrStderr()}
	s := &suite.Suite{
		Packages: o.packages, Env: env, Flags: goTestFlags, Artifacts: o.artifacts, Stderr: stderr,
		Finished: func(p gate.Progress) { _, _ = fmt.Fprintln(stderr, p) },
	}
	if err := s.Locate(c.Context()); err != nil {
		return nil, err
	}
	return s, s.CheckFlags(c.Context())
}

// check says before a run what could not be written in it or after it.
func (o *options) check() error {
	if o.artifacts != "" {
		if err := os.MkdirAll(o.artifacts, 0o755); err != nil {
			return fmt.Errorf("--artifacts: %w; name a directory that can be made", err)
		}
	}
	return o.output.check()
}

// environment is what the flags add to the environment of go test.
func (o *options) environment() ([]string, error) {
	var env []string
	switch o.runtime {
	case "":
	case "auto", "container", "process":
		env = append(env, "BROKERFAULT_BACKEND="+o.runtime)
	default:
		return nil, fmt.Errorf("--runtime %q: it takes auto, container or process", o.runtime)
	}
	switch o.profile {
	case "":
	case "fast", "full":
		env = append(env, "BROKERFAULT_PROFILE="+o.profile)
	default:
		return nil, fmt.Errorf("--profile %q: it takes fast or full", o.profile)
	}
	return env, nil
}

// catalogue lists the cases and keeps those of the pattern.
func (o *options) catalogue(c *cobra.Command, s *suite.Suite) (gate.Catalogue, error) {
	all, err := s.List(c.Context())
	if err != nil {
		return nil, environment(c, err)
	}
	some := all.Matching(o.named)
	if len(some) == 0 {
		_, _ = fmt.Fprintf(c.ErrOrStderr(), "faultgate: --case %q matches none of the %d cases; faultgate list names them\n", o.pattern, len(all))
		return nil, exit(gate.ExitNothingRan)
	}
	return some, nil
}

// environment tells what kept a verdict from being reached.
func environment(c *cobra.Command, err error) error {
	_, _ = fmt.Fprintln(c.ErrOrStderr(), "faultgate: environment:", err)
	return exit(gate.ExitEnvironment)
}

// covered refuses clients that no case is about.
func covered(c gate.Catalogue, modules []string) error {
	for _, m := range modules {
		if len(c.Of(m)) == 0 {
			return fmt.Errorf("no case here is about %s; they are about %v", m, c.Clients())
		}
	}
	return nil
}

// noArguments refuses what is no flag; what stands behind -- is go test's.
func noArguments(c *cobra.Command, args []string) error {
	if at := c.ArgsLenAtDash(); at > 0 || at < 0 && len(args) > 0 {
		return fmt.Errorf("%q is no flag; packages go into --packages, flags of go test behind --", args[0])
	}
	return nil
}

// ownTests refuses -run behind -- where the command picks the tests.
func ownTests(goTestFlags []string, what string) error {
	if slices.ContainsFunc(goTestFlags, picksTests) {
		return fmt.Errorf("-run behind -- does not go with %s: name the case with --case", what)
	}
	return nil
}

// picksTests says that a flag of go test is -run.
func picksTests(flag string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	return strings.HasPrefix(flag, "-") && (name == "run" || name == "test.run")
}

// arguments wants between least and most of what is said.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s takes %s", c.Name(), what)
		}
		return nil
	}
}

// code is nil for the exit code 0.
func code(n int) error {
	if n == gate.ExitOK {
		return nil
	}
	return exit(n)
}

// lines lets the go command's messages and our progress share a writer.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
