package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

type run struct {
	packages  []string
	clients   []string
	brokers   []string
	runtime   string
	profile   string
	artifacts string
	json      bool
}

func newRun() *cobra.Command {
	var r run
	c := &cobra.Command{
		Use:   "run [flags] [-- go test flags]",
		Short: "run cases once and print a verdict table",
		Args: func(c *cobra.Command, args []string) error {
			if at := c.ArgsLenAtDash(); at > 0 || at < 0 && len(args) > 0 {
				return fmt.Errorf("%q is no flag; packages go into --packages, flags of go test behind --", args[0])
			}
			return nil
		},
		RunE: r.run,
	}
	f := c.Flags()
	f.StringSliceVar(&r.packages, "packages", []string{"./..."}, "the packages to test")
	f.StringArrayVar(&r.clients, "client", nil, "run with this client: MODULE=VERSION, once for each module")
	f.StringArrayVar(&r.brokers, "broker", nil, "run on this broker: pulsar, kafka or rocketmq=VERSION")
	f.StringVar(&r.runtime, "runtime", "", "where brokers run: auto, container or process (BROKERFAULT_BACKEND)")
	f.StringVar(&r.profile, "profile", "", "fast or full (BROKERFAULT_PROFILE)")
	f.StringVar(&r.artifacts, "artifacts", "", "keep what the tests leave behind in this directory")
	f.BoolVar(&r.json, "json", false, "print JSON instead of a table")
	return c
}

func (r *run) run(c *cobra.Command, goTestFlags []string) error {
	env, err := r.environment()
	if err != nil {
		return err
	}
	clients, err := parseClients(r.clients)
	if err != nil {
		return err
	}
	args := []string{"test", "-json", "-count=1"}
	if r.artifacts != "" {
		dir, err := filepath.Abs(r.artifacts)
		if err != nil {
			return fmt.Errorf("find the directory of the artifacts: %w", err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the directory of the artifacts: %w", err)
		}
		args = append(args, "-artifacts", "-outputdir", dir)
	}
	args = append(append(args, r.packages...), goTestFlags...)

	stderr := &lines{w: c.ErrOrStderr()}
	if len(clients) > 0 {
		dir, err := os.MkdirTemp("", "faultgate-")
		if err != nil {
			return fmt.Errorf("make a directory for the modfile: %w", err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		flags, err := modfile(c.Context(), dir, clients, stderr)
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "faultgate: environment:", err)
			return exit(gate.ExitEnvironment)
		}
		env = append(env, "GOFLAGS="+flags, "GOWORK=off")
	}

	var out gate.Collector
	out.Finished = func(p gate.Progress) { _, _ = fmt.Fprintln(stderr, p) }
	err = goTest(c.Context(), args, env, &out, stderr)
	report := out.Report(c.Context().Err() != nil)
	if err != nil {
		report.Environment = append(report.Environment, gate.Failure{Output: err.Error()})
	}
	if err := r.print(c, report); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	if code := report.ExitCode(); code != gate.ExitOK {
		return exit(code)
	}
	return nil
}

func (r *run) print(c *cobra.Command, report *gate.Report) error {
	if !r.json {
		return report.Print(c.OutOrStdout())
	}
	e := json.NewEncoder(c.OutOrStdout())
	e.SetIndent("", "  ")
	return e.Encode(report)
}

// environment is what the flags add to the environment of go test.
func (r *run) environment() ([]string, error) {
	var env []string
	for _, b := range r.brokers {
		name, version, _ := strings.Cut(b, "=")
		if !slices.Contains([]string{"pulsar", "kafka", "rocketmq"}, name) || version == "" {
			return nil, fmt.Errorf("--broker %q: it takes pulsar, kafka or rocketmq, = and a version", b)
		}
		env = append(env, "BROKERFAULT_"+strings.ToUpper(name)+"="+version)
	}
	switch r.runtime {
	case "":
	case "auto", "container", "process":
		env = append(env, "BROKERFAULT_BACKEND="+r.runtime)
	default:
		return nil, fmt.Errorf("--runtime %q: it takes auto, container or process", r.runtime)
	}
	switch r.profile {
	case "":
	case "fast", "full":
		env = append(env, "BROKERFAULT_PROFILE="+r.profile)
	default:
		return nil, fmt.Errorf("--profile %q: it takes fast or full", r.profile)
	}
	return env, nil
}

type client struct{ module, version string }

func parseClients(all []string) ([]client, error) {
	var out []client
	for _, s := range all {
		module, version, _ := strings.Cut(s, "=")
		if module == "" || version == "" {
			return nil, fmt.Errorf("--client %q: it takes a module path, = and a version", s)
		}
		if strings.Contains(version, ",") || slices.ContainsFunc(out, func(c client) bool { return c.module == module }) {
			return nil, errors.New("--client takes one version of each module; run once for each version to compare them")
		}
		out = append(out, client{module, version})
	}
	return out, nil
}
