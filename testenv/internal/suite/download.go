package suite

import "context"

// Download gets the Go modules that the tests need with these clients, and builds the
// tests, so that a later run with them needs no network.
func (s *Suite) Download(ctx context.Context, clients []Client) error {
	env, done, err := s.withClients(ctx, clients)
	if err != nil {
		return err
	}
	defer done()
	if _, err := s.goCommandIn(ctx, env, "mod", "download"); err != nil {
		return err
	}
	// Running none of the tests lets the go command keep the build and not link it anew each time.
	build := append([]string{"test", "-run=^$"}, s.Packages...)
	_, err = s.goCommandIn(ctx, env, build...)
	return err
}
