package poll

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHoldsProbesForTheWholeBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		result, err := Holds(t.Context(), Options{Budget: time.Second, Every: 100 * time.Millisecond}, from(0))
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(begin))
		require.Equal(t, Result{Probes: 10, Took: 900 * time.Millisecond}, result)
	})
}

func TestFirstFailureEndsHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		probes := 0
		result, err := Holds(t.Context(), Options{Budget: 20 * time.Second, Every: time.Second}, func(context.Context) error {
			if probes++; probes == 4 {
				return errRefused
			}
			return nil
		})
		require.EqualError(t, err, "held 3s of 20s (4 probes): message send timeout")
		require.ErrorIs(t, err, errRefused)
		var typed *NotHeld
		require.ErrorAs(t, err, &typed)
		require.Equal(t, result, typed.Result)
	})
}

func TestProbeInFlightAtTheEndOfHolds(t *testing.T) {
	sleepThen := func(d time.Duration, err error) Probe {
		return func(context.Context) error {
			time.Sleep(d)
			return err
		}
	}
	untilDone := func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("send: %w", ctx.Err())
	}
	thenGivesUp := func(ctx context.Context) error { return Stop(untilDone(ctx)) }
	tests := map[string]struct {
		last Probe
		want string
	}{
		"succeeds within its grace":         {last: sleepThen(1500*time.Millisecond, nil)},
		"gives up because the budget ended": {last: thenGivesUp},
		"errs because the budget ended":     {last: untilDone},
		"meets a deadline on a connection":  {last: sleepThen(time.Second, os.ErrDeadlineExceeded)},
		"fails within its grace": {
			last: sleepThen(1500*time.Millisecond, errRefused),
			want: "held 1s of 1s (2 probes): message send timeout",
		},
		"times out before the budget ended": {
			last: sleepThen(500*time.Millisecond, context.DeadlineExceeded),
			want: "held 520ms of 1s (2 probes): context deadline exceeded",
		},
		"hangs": {
			last: sleepThen(time.Minute, nil),
			want: "held 1s of 1s (2 probes): did not return",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				probes := 0
				result, err := Holds(t.Context(), Options{Budget: time.Second}, func(ctx context.Context) error {
					if probes++; probes == 1 {
						return nil
					}
					return test.last(ctx)
				})
				time.Sleep(time.Minute) // a bubble's goroutines must have ended, the hung probe's as well
				if test.want != "" {
					require.EqualError(t, err, test.want)
					return
				}
				require.NoError(t, err)
				require.Equal(t, 2, result.Probes)
				require.NoError(t, result.Last)
			})
		})
	}
}

func TestHoldsWantsOneSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := Holds(t.Context(), Options{Budget: time.Second}, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		require.EqualError(t, err, "held 1s of 1s (1 probe): context deadline exceeded")
	})
}
