package suite

import (
	"context"
	"runtime"
	"sync"

	"github.com/shirou/gopsutil/v4/mem"
	"golang.org/x/sync/errgroup"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// perRun is the memory that one run's brokers, tests and compilers may take, in bytes.
const perRun = 4 << 30

// AtOnce is how many runs this machine has room for side by side: each keeps two
// processors busy.
func AtOnce() int {
	n := runtime.NumCPU() / 2
	if memory, err := mem.VirtualMemory(); err == nil {
		n = min(n, int(memory.Available/perRun))
	}
	return max(1, n)
}

// Grid runs the tests once for each set, so many at a time, and joins what they
// showed in the order of the sets. After an interrupt no other one begins.
func (s *Suite) Grid(ctx context.Context, sets []Set, atOnce int) *gate.Report {
	reports := make([]*gate.Report, len(sets))
	var finished sync.Mutex
	shared := *s
	if tell := s.Finished; tell != nil {
		shared.Finished = func(p gate.Progress) {
			finished.Lock()
			defer finished.Unlock()
			tell(p)
		}
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, set := range sets {
		g.Go(func() error {
			if ctx.Err() == nil {
				reports[i] = shared.Run(ctx, set)
			}
			return nil
		})
	}
	_ = g.Wait()
	all := gate.NewReport()
	for _, r := range reports {
		if r == nil {
			all.Interrupted = true
			continue
		}
		all.Add(r)
	}
	return all
}
