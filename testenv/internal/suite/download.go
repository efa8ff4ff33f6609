package suite

import (
	"context"
	"fmt"
	"os"
)

// Download gets the Go modules that the tests need with these clients, and builds the
// tests, so that a later run with them needs no network.
func (s *Suite) Download(ctx context.Context, clients []Client) error {
	var env []string
	if len(clients) > 0 {
		dir, err := os.MkdirTemp("", "faultgate-")
		if err != nil {
			return fmt.Errorf("make a directory for the modfile: %w", err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		flags, err := s.modfile(ctx, dir, clients)
		if err != nil {
			return err
		}
		env = append(env, "GOFLAGS="+flags)
	}
	if _, err := s.goCommandIn(ctx, env, "mod", "download"); err != nil {
		return err
	}
	// Running none of the tests lets the go command keep the build and not link it anew each time.
	build := append([]string{"test", "-run=^$"}, s.Packages...)
	_, err := s.goCommandIn(ctx, env, build...)
	return err
}
