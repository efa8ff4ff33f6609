package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// modfile copies go.mod and go.sum into dir, asks for the clients there, and
// returns the GOFLAGS that make the go command use it, also where a test runs
// the go command itself. The checkout is only read.
func modfile(ctx context.Context, dir string, clients []client, stderr io.Writer) (string, error) {
	gomod, err := goCommand(ctx, stderr, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	if gomod == "" || gomod == os.DevNull {
		return "", errors.New("--client needs a go.mod here or above")
	}
	flags, err := goCommand(ctx, stderr, "env", "GOFLAGS")
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
		get = append(get, c.module+"@"+c.version)
	}
	if _, err := goCommand(ctx, stderr, get...); err != nil {
		return "", err
	}
	for _, c := range clients {
		got, err := goCommand(ctx, stderr, "list", "-mod=mod", "-modfile="+copied, "-m", "-f", "{{.Version}}", c.module)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(c.version, "v") && got != c.version {
			return "", fmt.Errorf("%s %s was asked for, but %s is what the other modules allow", c.module, c.version, got)
		}
	}
	// -mod=mod: another version of a client may need sums that go get did not ask for.
	return strings.TrimSpace(flags + " -mod=mod -modfile=" + copied), nil
}

func goCommand(ctx context.Context, stderr io.Writer, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Stdout, cmd.Stderr = &out, stderr
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
