package poll

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	errRefused = errors.New("message send timeout")
	errDead    = errors.New("broker 1 died")
)

// from returns a probe that fails until so long after the start.
func from(at time.Duration) Probe {
	start := time.Now()
	return func(context.Context) error {
		if time.Since(start) < at {
			return errRefused
		}
		return nil
	}
}

// deaf is a probe that looks at no context and returns when released.
func deaf(release <-chan struct{}) Probe {
	return func(context.Context) error {
		<-release
		return nil
	}
}

func TestFirstProbeRunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result, err := Until(t.Context(), Options{Budget: time.Second}, from(0))
		require.NoError(t, err)
		require.Equal(t, Result{Probes: 1}, result)
	})
}

func TestUntilProbesEvery20msByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result, err := Until(t.Context(), Options{Budget: time.Second}, from(100*time.Millisecond))
		require.NoError(t, err)
		require.Equal(t, Result{Probes: 6, Took: 100 * time.Millisecond}, result)
	})
}

func TestEveryCountsFromTheProbesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts []time.Duration
		begin := time.Now()
		_, err := Until(t.Context(), Options{Budget: 10 * time.Second, Every: time.Second}, func(context.Context) error {
			starts = append(starts, time.Since(begin))
			time.Sleep(2 * time.Second)
			if len(starts) < 3 {
				return errRefused
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, []time.Duration{0, 3 * time.Second, 6 * time.Second}, starts)
	})
}

func TestUntilSaysWhatItSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result, err := Until(t.Context(), Options{Budget: 30 * time.Second, Every: 500 * time.Millisecond}, from(time.Hour))
		require.EqualError(t, err, "not within 30s (60 probes); last: message send timeout")
		require.ErrorIs(t, err, errRefused)
		var typed *NotWithin
		require.ErrorAs(t, err, &typed)
		require.Equal(t, 30*time.Second, typed.Budget)
		require.Equal(t, result, typed.Result)
		require.Equal(t, 29500*time.Millisecond, result.Took)
	})
}

func TestSuccessAfterTheBudgetIsAFailure(t *testing.T) {
	tests := map[string]struct {
		takes time.Duration
		want  string
	}{
		"at the end": {takes: time.Second},
		"just after": {takes: 1300 * time.Millisecond, want: "not within 1s (1 probe); last: success came 300ms too late"},
		"by a bit":   {takes: time.Second + 40*time.Microsecond, want: "not within 1s (1 probe); last: success came 40µs too late"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := Until(t.Context(), Options{Budget: time.Second}, func(context.Context) error {
					time.Sleep(test.takes)
					return nil
				})
				if test.want == "" {
					require.NoError(t, err)
					return
				}
				require.EqualError(t, err, test.want)
				var typed *NotWithin
				require.ErrorAs(t, err, &typed)
				require.Equal(t, test.takes-time.Second, typed.Late)
				require.False(t, typed.Hung)
			})
		})
	}
}

func TestProbesContextEndsWithTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err := Until(t.Context(), Options{Budget: time.Second}, func(ctx context.Context) error {
			deadline, ok := ctx.Deadline()
			if !ok || deadline.Sub(begin) != time.Second {
				return Stop(fmt.Errorf("deadline is %v after the start", deadline.Sub(begin)))
			}
			<-ctx.Done()
			return ctx.Err()
		})
		require.EqualError(t, err, "not within 1s (1 probe); last: context deadline exceeded")
	})
}

// "context deadline exceeded" tells a reader nothing; what the probes before it
// said does.
func TestEndOfBudgetDoesNotHideTheLastError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		probes := 0
		_, err := Until(t.Context(), Options{Budget: time.Second}, func(ctx context.Context) error {
			if probes++; probes == 1 {
				return errRefused
			}
			<-ctx.Done()
			return fmt.Errorf("send: %w", ctx.Err())
		})
		require.EqualError(t, err, "not within 1s (2 probes); last: message send timeout")
	})
}

func TestNoBudgetRunsNoProbe(t *testing.T) {
	for _, budget := range []time.Duration{0, -time.Second} {
		for name, wait := range map[string]func(context.Context, Options, Probe) (Result, error){"until": Until, "holds": Holds} {
			t.Run(fmt.Sprint(name, budget), func(t *testing.T) {
				result, err := wait(t.Context(), Options{Budget: budget}, func(context.Context) error {
					panic("ran")
				})
				require.EqualError(t, err, fmt.Sprintf("poll: budget is %s, want more than zero", budget))
				require.Zero(t, result)
			})
		}
	}
}
