package poll

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDeafProbeIsReportedAsHungAfterItsGrace(t *testing.T) {
	tests := map[string]struct{ grace, want time.Duration }{
		"default": {want: 3 * time.Second},
		"own":     {grace: 5 * time.Second, want: 7 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, wait func(context.Context, Options, Probe) (Result, error)) {
				release := make(chan struct{})
				defer close(release)
				result, err := wait(t.Context(), Options{Budget: 2 * time.Second, Grace: test.grace}, deaf(release))
				require.ErrorIs(t, err, ErrHung)
				require.ErrorContains(t, err, "did not return")
				require.Equal(t, Result{Probes: 1, Took: test.want, Last: ErrHung, Hung: true}, result)
			})
		})
	}
}

func TestHungProbeDoesNotHideTheErrorBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		probes := 0
		result, err := Until(t.Context(), Options{Budget: 2 * time.Second}, func(context.Context) error {
			if probes++; probes == 1 {
				return errRefused
			}
			<-release
			return nil
		})
		require.True(t, result.Hung)
		require.ErrorIs(t, err, ErrHung)
		require.ErrorIs(t, err, errRefused)
		require.EqualError(t, err, "not within 2s (2 probes); last: did not return; before that: message send timeout")
	})
}

// The race detector is this test's judge: what an abandoned probe does later must
// touch nothing of the wait's.
func TestAbandonedProbeMayEndInAnyWayLater(t *testing.T) {
	both(t, func(t *testing.T, wait func(context.Context, Options, Probe) (Result, error)) {
		release := make(chan struct{})
		result, err := wait(t.Context(), Options{Budget: time.Second}, func(context.Context) error {
			<-release
			panic("after everybody left")
		})
		close(release)
		synctest.Wait()
		require.True(t, result.Hung)
		require.ErrorIs(t, err, ErrHung)
	})
}
