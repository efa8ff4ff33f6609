package testenv

import (
	"context"
	"sync"

	"github.com/brokerfault/brokerfault/testenv/internal/backend"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

var chosen = struct {
	sync.Mutex
	results map[backend.Choice]func() (runtime.Runtime, error)
}{results: map[backend.Choice]func() (runtime.Runtime, error){}}

// runtimeOf is the process's one runtime for these settings, chosen at the first call.
func runtimeOf(ctx context.Context, s settings.Settings) (runtime.Runtime, error) {
	key := backend.Choice{Backend: s.Backend, Cache: s.Cache, BaseImage: s.BaseImage}
	chosen.Lock()
	result, ok := chosen.results[key]
	if !ok {
		result = sync.OnceValues(func() (runtime.Runtime, error) { return backend.New(ctx, key) })
		chosen.results[key] = result
	}
	chosen.Unlock()
	return result()
}
