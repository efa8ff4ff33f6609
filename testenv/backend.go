package testenv

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime/container"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime/process"
	"github.com/brokerfault/brokerfault/testenv/internal/settings"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// choice is what the choice of a runtime depends on.
type choice struct{ backend, cache, baseImage string }

var chosen = struct {
	sync.Mutex
	results map[choice]func() (runtime.Runtime, error)
}{results: map[choice]func() (runtime.Runtime, error){}}

// backend is the process's one runtime for these settings, chosen at the first call.
func backend(ctx context.Context, s settings.Settings) (runtime.Runtime, error) {
	key := choice{s.Backend, s.Cache, s.BaseImage}
	chosen.Lock()
	result, ok := chosen.results[key]
	if !ok {
		result = sync.OnceValues(func() (runtime.Runtime, error) { return choose(ctx, s) })
		chosen.results[key] = result
	}
	chosen.Unlock()
	return result()
}

func choose(ctx context.Context, s settings.Settings) (runtime.Runtime, error) {
	session, err := supervisor.Current()
	if err != nil {
		return nil, err
	}
	cache := &dist.Cache{
		Dir: s.Cache,
		Run: func(ctx context.Context, args []string, dir, log string) error {
			return session.Run(ctx, supervisor.Command{Args: args, Dir: dir, Log: log})
		},
	}
	containers := func() (runtime.Runtime, error) {
		return container.New(ctx, container.Options{Cache: cache, Base: s.BaseImage})
	}
	processes := func() (runtime.Runtime, error) { return process.New(ctx, cache) }
	switch s.Backend {
	case "container":
		return containers()
	case "process":
		return processes()
	}
	noEngine := container.Answers(ctx)
	if noEngine == nil {
		return containers()
	}
	rt, noJava := processes()
	if noJava == nil {
		if _, err := exec.LookPath("mvn"); err == nil {
			return rt, nil
		}
		noJava = errors.New("mvn is not in PATH: install Maven (Debian: maven)")
	}
	return nil, fmt.Errorf("nowhere to run a broker; a container engine or Java 17 with Maven is needed:\n"+
		"  container: %w\n  process: %w", noEngine, noJava)
}
