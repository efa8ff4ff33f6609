package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// withClients is the environment in which the go command takes these versions of clients.
// done removes what it needs.
func (s *Suite) withClients(ctx context.Context, clients []Client) (env []string, done func(), err error) {
	if len(clients) == 0 {
		return nil, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "faultgate-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory for the modfile: %w", err)
	}
	done = func() { _ = os.RemoveAll(dir) }
	flags, err := s.modfile(ctx, dir, clients)
	if err != nil {
		done()
		return nil, nil, err
	}
	return []string{"GOFLAGS=" + flags, "GOWORK=off"}, done, nil
}

// modfile copies go.mod and go.sum into dir, asks for the clients there, and
// returns the GOFLAGS that make the go command use it, also where a test runs
// the go command itself. The checkout is only read.
func (s *Suite) modfile(ctx context.Context, dir string, clients []Client) (string, error) {
	gomod, err := s.goCommand(ctx, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	if gomod == "" || gomod == os.DevNull {
		return "", errors.New("another client version needs a go.mod here or above")
	}
	flags, err := s.goCommand(ctx, "env", "GOFLAGS")
	if err != nil {
		return "", err
	}
	copied := filepath.Join(dir, "go.mod")
	if err := copyFile(gomod, copied); err != nil {
		return "", err
	}
	sum := filepath.Join(filepath.Dir(gomod), "go.sum")
	if err := copyFile(sum, filepath.Join(dir, "go.sum")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	get := []string{"get", "-modfile=" + copied}
	for _, c := range clients {
		get = append(get, c.Module+"@"+c.Version)
	}
	if _, err := s.goCommand(ctx, get...); err != nil {
		return "", err
	}
	if err := s.hasVersions(ctx, copied, clients, "is what the other modules allow"); err != nil {
		return "", err
	}
	// -mod=mod: another version of a client may need sums that go get did not ask for. It
	// also lets the go command take a newer release where this one lacks a package, which
	// it tells in its words. A package that cannot be loaded is left to the build.
	load := append([]string{"list", "-mod=mod", "-modfile=" + copied, "-e", "-deps", "-test", "-f", "{{/* loading is all */}}"}, s.Packages...)
	if _, err := s.goCommand(ctx, load...); err != nil {
		return "", err
	}
	if err := s.hasVersions(ctx, copied, clients, "is what the go command took, for a package that the tests import and that release does not have"); err != nil {
		return "", err
	}
	return strings.TrimSpace(flags + " -mod=mod -modfile=" + copied), nil
}

// hasVersions says that a go.mod selects the versions that were asked for.
func (s *Suite) hasVersions(ctx context.Context, gomod string, clients []Client, reason string) error {
	for _, c := range clients {
		got, err := s.goCommand(ctx, "list", "-mod=mod", "-modfile="+gomod, "-m", "-f", "{{.Version}}", c.Module)
		if err != nil {
			return err
		}
		if strings.HasPrefix(c.Version, "v") && got != c.Version {
			return fmt.Errorf("%s %s was asked for, but %s %s", c.Module, c.Version, got, reason)
		}
	}
	return nil
}

func (s *Suite) goCommand(ctx context.Context, args ...string) (string, error) {
	return s.goCommandIn(ctx, nil, args...)
}

// goCommandIn adds to the environment.
func (s *Suite) goCommandIn(ctx context.Context, env []string, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, &out, s.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(out.String()), nil
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copy a module file: %w", err)
	}
	if err := os.WriteFile(to, b, 0o644); err != nil {
		return fmt.Errorf("copy a module file: %w", err)
	}
	return nil
}
