// Package turnstile lets a few at a time through, of all processes of a machine.
//
// The start of a broker is bound by the processor. Where many tests start one at the same
// time, each takes the longer, and what they take is missing to the scenarios that run
// meanwhile and are judged by the clock.
package turnstile

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lookEvery is how often a taken place is tried again.
const lookEvery = 50 * time.Millisecond

// Enter waits for one of the places, which are locked files in dir, an existing
// directory. A process that ends, however it does, leaves its place. The returned
// function leaves it; the error is that of ctx, or of the files.
func Enter(ctx context.Context, dir string, places int) (leave func(), err error) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		for i := range places {
			lock := flock.New(filepath.Join(dir, fmt.Sprintf("start-%d.lock", i)))
			taken, err := lock.TryLock()
			if err != nil {
				return nil, fmt.Errorf("wait for a turn to start: %w", err)
			}
			if taken {
				return func() { _ = lock.Close() }, nil
			}
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a turn to start: %w", context.Cause(ctx))
		}
	}
}
