package poll

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// both runs a claim that holds for Until as well as for Holds.
func both(t *testing.T, claim func(*testing.T, func(context.Context, Options, Probe) (Result, error))) {
	t.Helper()
	t.Run("until", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { claim(t, Until) }) })
	t.Run("holds", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { claim(t, Holds) }) })
}

func TestDeadBrokerEndsTheWaitWhileADeafProbeIsInFlight(t *testing.T) {
	both(t, func(t *testing.T, wait func(context.Context, Options, Probe) (Result, error)) {
		ctx, kill := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { kill(errDead) })
		release := make(chan struct{})
		defer close(release)

		result, err := wait(ctx, Options{Budget: 30 * time.Second}, deaf(release))
		require.ErrorIs(t, err, errDead)
		require.EqualError(t, err, "ended after 3s of 30s (1 probe): broker 1 died")
		require.Equal(t, Result{Probes: 1, Took: 3 * time.Second}, result)
	})
}

func TestDeadBrokerEndsThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, kill := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { kill(errDead) })
		begin := time.Now()
		_, err := Until(ctx, Options{Budget: time.Minute, Every: 10 * time.Second}, from(time.Hour))
		require.ErrorIs(t, err, errDead)
		require.ErrorIs(t, err, errRefused)
		require.Equal(t, 3*time.Second, time.Since(begin))
		require.EqualError(t, err, "ended after 0s of 1m0s (1 probe): broker 1 died; last: message send timeout")
	})
}

func TestDeadBrokerIsTheReasonWhenTheProbeSaysCanceled(t *testing.T) {
	both(t, func(t *testing.T, wait func(context.Context, Options, Probe) (Result, error)) {
		ctx, kill := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { kill(errDead) })
		_, err := wait(ctx, Options{Budget: time.Minute}, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		require.ErrorIs(t, err, errDead)
		var ended *Ended
		require.ErrorAs(t, err, &ended)
		require.Equal(t, errDead, ended.Why)
	})
}

func TestEndedContextRunsNoProbe(t *testing.T) {
	both(t, func(t *testing.T, wait func(context.Context, Options, Probe) (Result, error)) {
		ctx, kill := context.WithCancelCause(t.Context())
		kill(errDead)
		result, err := wait(ctx, Options{Budget: time.Second}, from(0))
		require.ErrorIs(t, err, errDead)
		require.Zero(t, result)
	})
}

func TestStopGivesUpEarly(t *testing.T) {
	both(t, func(t *testing.T, wait func(context.Context, Options, Probe) (Result, error)) {
		result, err := wait(t.Context(), Options{Budget: 30 * time.Second}, func(context.Context) error {
			time.Sleep(time.Second)
			return Stop(errRefused)
		})
		require.EqualError(t, err, "ended after 1s of 30s (1 probe): message send timeout")
		require.ErrorIs(t, err, errRefused)
		require.Equal(t, Result{Probes: 1, Took: time.Second, Last: errRefused}, result)
	})
}

func TestStopIsFoundInsideAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result, err := Until(t.Context(), Options{Budget: time.Second}, func(context.Context) error {
			return fmt.Errorf("send: %w", Stop(errRefused))
		})
		require.ErrorIs(t, err, errRefused)
		require.Equal(t, 1, result.Probes)
		require.ErrorContains(t, err, "send: message send timeout")
	})
}

func TestStopUnwraps(t *testing.T) {
	require.ErrorIs(t, Stop(errRefused), errRefused)
	require.Equal(t, errRefused, errors.Unwrap(Stop(errRefused)))
	require.NoError(t, Stop(nil))
}

func TestPanicOfAProbeEndsTheWaitWithItsStack(t *testing.T) {
	both(t, func(t *testing.T, wait func(context.Context, Options, Probe) (Result, error)) {
		_, err := wait(t.Context(), Options{Budget: time.Second}, func(context.Context) error {
			return explode()
		})
		var panicked *Panicked
		require.ErrorAs(t, err, &panicked)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Contains(t, string(panicked.Stack), "explode")
		require.ErrorContains(t, err, "ended after 0s of 1s (1 probe): the probe panicked: unexpected EOF\n")
	})
}

//go:noinline
func explode() error { panic(io.ErrUnexpectedEOF) }

// testify's require calls t.FailNow, which ends the goroutine it runs in.
func TestGoexitOfAProbeIsAnError(t *testing.T) {
	both(t, func(t *testing.T, wait func(context.Context, Options, Probe) (Result, error)) {
		_, err := wait(t.Context(), Options{Budget: time.Second}, func(context.Context) error {
			runtime.Goexit()
			return nil
		})
		require.ErrorIs(t, err, ErrGoexit)
		require.EqualError(t, err, "ended after 0s of 1s (1 probe): the probe ended its goroutine: use errors, not require")
	})
}
