package turnstile

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNoMoreThanThePlacesAreInside(t *testing.T) {
	dir := t.TempDir()
	var inside, most, entered atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			leave, err := Enter(t.Context(), dir, 2)
			if err != nil {
				return
			}
			defer leave()
			entered.Add(1)
			if n := inside.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(20 * time.Millisecond)
			inside.Add(-1)
		})
	}
	all.Wait()
	require.EqualValues(t, 8, entered.Load())
	require.EqualValues(t, 2, most.Load())
}

func TestWaitEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	leave, err := Enter(t.Context(), dir, 1)
	require.NoError(t, err)
	defer leave()
	why := errors.New("the test is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err = Enter(ctx, dir, 1)
	require.ErrorIs(t, err, why)
}
