package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// Suite is a module with cases, and how its tests are run.
type Suite struct {
	// Dir is the module's directory; empty is the current one.
	Dir string
	// Packages are the packages to test, as the go command takes them.
	Packages []string
	// Env are environment variables on top of this process's own: KEY=VALUE.
	Env []string
	// Flags are more flags of go test.
	Flags []string
	// Artifacts is a directory to keep what the tests leave behind, or empty.
	Artifacts string
	// Stderr takes what the go command says.
	Stderr io.Writer
	// Finished, if it is not nil, is told about each test that ends.
	Finished func(gate.Progress)

	// only are the cases whose cells a report keeps; nil keeps all.
	only gate.Catalogue
}

// Client is a version of a client module.
type Client struct{ Module, Version string }

// Broker is a version of a broker: "kafka", "3.9.2".
type Broker struct{ Name, Version string }

// Set is what to run with, where it is not what go.mod and the settings say.
type Set struct {
	Clients []Client
	Brokers []Broker
}

// Modules are those of the clients.
func (s Set) Modules() []string {
	var all []string
	for _, c := range s.Clients {
		all = append(all, c.Module)
	}
	return all
}

// String names the versions: "github.com/twmb/franz-go v1.22.3, kafka 3.9.2".
func (s Set) String() string {
	text := ""
	add := func(name, version string) {
		if text != "" {
			text += ", "
		}
		text += name + " " + version
	}
	for _, c := range s.Clients {
		add(c.Module, c.Version)
	}
	for _, b := range s.Brokers {
		add(b.Name, b.Version)
	}
	if text == "" {
		return "the versions of go.mod and the settings"
	}
	return text
}

// Run runs the tests once. What keeps them from running is in the report, as environment.
func (s *Suite) Run(ctx context.Context, set Set) *gate.Report {
	s.announce(set)
	report, err := s.run(ctx, set)
	if report == nil {
		report = gate.NewReport()
		report.Interrupted = ctx.Err() != nil
	}
	if err != nil {
		report.Environment = append(report.Environment, gate.Failure{Output: fmt.Sprintf("%s: %v", set, err)})
	}
	if s.only != nil {
		report.Keep(s.only)
	}
	if len(set.Clients)+len(set.Brokers) > 0 {
		for i := range report.Cells {
			report.Cells[i].With = set.String()
		}
	}
	return report
}

// announce says what is built and run next.
func (s *Suite) announce(set Set) {
	what := "all tests"
	if s.only != nil {
		what = fmt.Sprintf("%d cases", len(s.only))
	}
	_, _ = fmt.Fprintf(s.Stderr, "build and run %s with %s\n", what, set)
}

func (s *Suite) run(ctx context.Context, set Set) (*gate.Report, error) {
	clients, done, err := s.withClients(ctx, set.Clients)
	if err != nil {
		return nil, err
	}
	defer done()
	env := slices.Concat(s.Env, clients)
	for _, b := range set.Brokers {
		env = append(env, setting(b))
	}
	args := []string{"test", "-json", "-count=1"}
	if s.Artifacts != "" {
		dir, err := filepath.Abs(s.Artifacts)
		if err != nil {
			return nil, fmt.Errorf("find the directory of the artifacts: %w", err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make the directory of the artifacts: %w", err)
		}
		args = append(args, "-artifacts", "-outputdir", dir)
	}
	args = append(append(args, s.Packages...), s.Flags...)
	out := gate.Collector{Finished: s.Finished}
	out.Begin()
	failed, err := goTest(ctx, s.Dir, args, env, &out, s.Stderr)
	if err == nil && failed && out.Silent() {
		err = errors.New("go test failed before it came to a package, for the reason that it gives above")
	}
	return out.Report(ctx.Err() != nil), err
}
