package testenv

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A client may be deaf to its context (pulsar-client-go v0.11.1 inside Send).
func TestHungProbeIsToldAndLeftBehind(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	closed := false
	began := time.Now()
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Closes("the client", func() { closed = true })
		e.Inject(harmless).Heal()
		e.Recovers("it sends", short, func(context.Context) error {
			<-release
			return nil
		})
	})
	require.Less(t, time.Since(began), 5*time.Second)
	require.True(t, d.Failed())
	d.requireVerdict(t, "not recovered")
	require.Contains(t, d.attrs["reason"], "did not return")
	require.True(t, closed, "the clean-up went on")
}

func TestFaultsAreHealedInReverseOrderAfterAFailure(t *testing.T) {
	var healed []string
	fault := func(name string, err error) Fault {
		return Fault{Name: name, Apply: succeeds, Bites: succeeds, Heal: func(context.Context) error {
			healed = append(healed, name)
			return err
		}}
	}
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Closes("the client", func() { healed = append(healed, "closed") })
		e.Inject(fault("first", nil))
		e.Inject(fault("healed already", nil)).Heal()
		e.Inject(fault("second", errors.New("the broker is away")))
		half := fault("half applied", nil)
		half.Apply = times
		e.Inject(half)
	})
	require.True(t, d.Failed())
	d.requireVerdict(t, "environment")
	require.Equal(t, []string{"healed already", "half applied", "second", "first", "closed"}, healed)
	require.Contains(t, d.text(), "heal second")
	require.Contains(t, d.text(), "the broker is away")
}

func TestSecondHealDoesNothing(t *testing.T) {
	healed := 0
	scenario(t, func(tb testing.TB) {
		f := harmless
		f.Heal = func(context.Context) error { healed++; return nil }
		i := New(tb, Case{}).Inject(f)
		i.Heal()
		i.Heal()
	})
	require.Equal(t, 1, healed)
}

func TestPanicLeavesTimelineAndVerdict(t *testing.T) {
	ended := make(chan struct{})
	healed := false
	d, panicked := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Go(func(ctx context.Context) {
			<-ctx.Done()
			close(ended)
		})
		f := harmless
		f.Heal = func(context.Context) error { healed = true; return nil }
		e.Inject(f)
		panic("index out of range")
	})
	require.Equal(t, "index out of range", panicked)
	require.True(t, healed)
	<-ended
	d.requireVerdict(t, "not recovered")
	require.Regexp(t, `^the test panicked at cleanup_test\.go:\d+$`, d.attrs["reason"])
	require.Contains(t, d.text(), "the quota is exceeded: it bites")
}

// It must not be taken for the recovery that came before it.
func TestPanicAfterARecoveryIsNone(t *testing.T) {
	d, panicked := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Inject(harmless).Heal()
		e.Recovers("it sends", 5*time.Second, succeeds)
		index := func() map[string]int { return nil }
		index()["x"] = 1
	})
	require.NotNil(t, panicked)
	d.requireVerdict(t, "not recovered")
	require.Regexp(t, `^the test panicked at cleanup_test\.go:\d+$`, d.attrs["reason"])
}

func TestNeitherAFailureNorARecoveredPanicIsAPanic(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		func() {
			defer func() { _ = recover() }()
			panic("the client's own business")
		}()
		e.Inject(harmless).Heal()
		e.Recovers("it sends", 5*time.Second, succeeds)
	})
	d.requireVerdict(t, "recovered")
	d, _ = scenario(t, func(tb testing.TB) {
		New(tb, Case{}).Inject(harmless).Heal()
		tb.FailNow()
	})
	require.Equal(t, "an assertion of the test failed", d.attrs["reason"])
}

func TestPanicOfAProbeIsAnError(t *testing.T) {
	d, panicked := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Inject(harmless).Heal()
		e.Recovers("it sends", time.Second, func(context.Context) error { panic("nil map") })
	})
	require.Nil(t, panicked)
	d.requireVerdict(t, "not recovered")
	require.Contains(t, d.attrs["reason"], "the probe panicked: nil map")
}
