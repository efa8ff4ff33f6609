// Package backend chooses where brokers run on this machine, and makes that runtime.
package backend

import (
	"context"
	"fmt"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime/container"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime/process"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// What BROKERFAULT_BACKEND can be.
const (
	Auto      = "auto"
	Container = "container"
	Process   = "process"
)

// Choice is what a runtime depends on.
type Choice struct {
	// Backend is Auto, Container or Process.
	Backend string
	// Cache is the directory of the jars, BaseImage the image with Java.
	Cache, BaseImage string
}

// Cache keeps jars in a directory. Its Maven does not outlive this process.
func Cache(dir string) (*dist.Cache, error) {
	session, err := supervisor.Current()
	if err != nil {
		return nil, err
	}
	return &dist.Cache{
		Dir: dir,
		Run: func(ctx context.Context, args []string, dir, log string) error {
			return session.Run(ctx, supervisor.Command{Args: args, Dir: dir, Log: log})
		},
	}, nil
}

// New makes the runtime.
func New(ctx context.Context, c Choice) (runtime.Runtime, error) {
	cache, err := Cache(c.Cache)
	if err != nil {
		return nil, err
	}
	chosen := c.Backend
	if chosen == Auto {
		noEngine := container.Answers(ctx)
		var noProcesses error
		if noEngine != nil {
			noProcesses = Processes(ctx)
		}
		if chosen, err = Choose(noEngine, noProcesses); err != nil {
			return nil, err
		}
	}
	if chosen == Container {
		return container.New(ctx, container.Options{Cache: cache, Base: c.BaseImage})
	}
	return process.New(ctx, cache)
}

// Processes says what is missing to run brokers of any version as processes.
func Processes(ctx context.Context) error {
	if _, err := process.FindJava(ctx); err != nil {
		return err
	}
	_, err := dist.FindMaven()
	return err
}

// Choose is what Auto comes to where these errors keep the two from working; nil is no
// hindrance.
func Choose(noEngine, noProcesses error) (string, error) {
	switch {
	case noEngine == nil:
		return Container, nil
	case noProcesses == nil:
		return Process, nil
	}
	return "", fmt.Errorf("nowhere to run a broker; a container engine or Java 17 with Maven is needed:\n"+
		"  container: %w\n  process: %w", noEngine, noProcesses)
}
