package testenv

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errTimeout = errors.New("message send timeout")

func succeeds(context.Context) error { return nil }
func times(context.Context) error    { return errTimeout }

// harmless is a fault that bites at once and can be healed.
var harmless = Fault{Name: "the quota is exceeded", Apply: succeeds, Bites: succeeds, Heal: succeeds}

const short = 200 * time.Millisecond

func TestVerdictOfARecovery(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{Name: "testenv/double"})
		e.Inject(harmless).Heal()
		e.Recovers("it sends", 5*time.Second, succeeds)
	})
	require.False(t, d.Failed(), d.text())
	d.requireVerdict(t, "recovered")
	require.Equal(t, "5000", d.attrs["budget_ms"])
	require.NotEmpty(t, d.attrs["recovery_ms"])
}

func TestFaultThatDoesNotBiteProvesNothing(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		f := harmless
		f.Bites, f.BitesWithin = func(context.Context) error { return errors.New("it still answers") }, short
		New(tb, Case{}).Inject(f)
	})
	require.True(t, d.Failed())
	d.requireVerdict(t, "environment")
	require.Contains(t, d.attrs["reason"], "did not bite, so it proves nothing")
	require.Contains(t, d.attrs["reason"], "it still answers")
}

func TestFaultWithoutProofIsRefused(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) { New(tb, Case{}).Inject(Fault{Name: "none", Apply: succeeds}) })
	d.requireVerdict(t, "environment")
	require.Contains(t, d.attrs["reason"], "needs Apply and a proof")
}

func TestScenarioWithoutFaultFails(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) { New(tb, Case{}).Within("it sends", time.Second, succeeds) })
	require.True(t, d.Failed())
	d.requireVerdict(t, "environment")
	require.Contains(t, d.attrs["reason"], "injected no fault, so it proves nothing")
}

func TestScenarioThatAsksForNothingAfterItsFaultFails(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Within("it sends before the fault", time.Second, succeeds)
		e.Inject(harmless)
	})
	require.True(t, d.Failed())
	d.requireVerdict(t, "environment")
	require.Contains(t, d.attrs["reason"], "waited for nothing after its latest fault")
}

func TestRecoveryFromNothingFails(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) { New(tb, Case{}).Recovers("it sends", time.Second, succeeds) })
	require.True(t, d.Failed())
	d.requireVerdict(t, "environment")
	require.Contains(t, d.attrs["reason"], "nothing to recover from")
}

func TestWitnessTellsWhoIsAtFault(t *testing.T) {
	for want, witness := range map[string]Probe{
		"client": succeeds,
		"broker": func(context.Context) error { return Stop(errTimeout) },
	} {
		t.Run(want, func(t *testing.T) {
			d, _ := scenario(t, func(tb testing.TB) {
				e := New(tb, Case{})
				e.Witness("a fresh producer sends", witness)
				e.Inject(harmless).Heal()
				e.Recovers("the same producer sends", short, times)
			})
			require.True(t, d.Failed())
			d.requireVerdict(t, "not recovered")
			require.Equal(t, want, d.attrs["at_fault"])
			require.Contains(t, d.attrs["reason"], errTimeout.Error())
			require.Contains(t, d.attrs["reason"], "the "+want+" is at fault")
			require.Empty(t, d.attrs["recovery_ms"])
			require.Equal(t, "200", d.attrs["budget_ms"])
		})
	}
}

func TestNoWitnessIsAskedUnderFault(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Witness("a fresh producer sends", func(context.Context) error { panic("asked") })
		e.Inject(harmless)
		e.Holds("sends are refused", short, times)
	})
	d.requireVerdict(t, "not recovered")
	require.Equal(t, "unknown", d.attrs["at_fault"])
	require.Contains(t, d.attrs["reason"], "no witness was asked")
}

func TestRecoveryJustAfterTheBudgetIsNone(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Inject(harmless).Heal()
		e.Recovers("it sends", short, func(context.Context) error {
			time.Sleep(short + 50*time.Millisecond)
			return nil
		})
	})
	require.True(t, d.Failed())
	d.requireVerdict(t, "not recovered")
	require.Contains(t, d.attrs["reason"], "too late")
}

// Whoever spends the budget before the wait measures nothing, and blames nobody.
func TestTimeBeforeTheWaitCounts(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Inject(harmless).Heal()
		time.Sleep(short + 50*time.Millisecond)
		e.Recovers("it sends", short, succeeds)
	})
	require.True(t, d.Failed())
	d.requireVerdict(t, "environment")
	require.Contains(t, d.attrs["reason"], "the scenario spent the budget of 200ms")
}

func TestKnownBadWithoutARemedyIsSkippedWithItsVerdict(t *testing.T) {
	open := Case{KnownBad: []Combination{{Evidence: "0 of 60 sends", Fails: "it sends", Open: "no release yet"}}}
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, open)
		e.Inject(harmless).Heal()
		e.Recovers("it sends", short, times)
	})
	require.False(t, d.Failed(), d.text())
	require.True(t, d.Skipped())
	d.requireVerdict(t, "not recovered")
	require.Equal(t, "0 of 60 sends", d.attrs["known_bad"])
}

// A defect that is over after a while must not look mended on a slow machine.
func TestScaleLeavesTheWaitThatIsListedToFail(t *testing.T) {
	t.Setenv("BROKERFAULT_SCALE", "3")
	for claim, budget := range map[string]string{"it sends": "200", "it receives": "600"} {
		d, _ := scenario(t, func(tb testing.TB) {
			e := New(tb, Case{KnownBad: []Combination{{Evidence: "0 of 60 sends", Fails: "it sends", Open: "no release yet"}}})
			e.Inject(harmless).Heal()
			e.Recovers(claim, short, times)
		})
		require.Equal(t, budget, d.attrs["budget_ms"], claim)
	}
}

func TestScaleLeavesHowLongSomethingHolds(t *testing.T) {
	t.Setenv("BROKERFAULT_SCALE", "5")
	began := time.Now()
	_, _ = scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Inject(harmless).Heal()
		e.Holds("sends are refused", short, succeeds)
	})
	require.Less(t, time.Since(began), 5*short)
}

func TestOpenKnownBadThatFailsElsewhereIsNotExcused(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{KnownBad: []Combination{{Evidence: "0 of 60 sends", Fails: "it receives", Open: "no release yet"}}})
		e.Inject(harmless).Heal()
		e.Recovers("it sends", short, times)
	})
	require.True(t, d.Failed())
	require.False(t, d.Skipped())
	d.requireVerdict(t, "not recovered")
}

func TestKnownBadThatCanBeUpgradedFails(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{KnownBad: []Combination{{Evidence: "0 of 60 sends"}}})
		e.Inject(harmless).Heal()
		e.Recovers("it sends", short, times)
	})
	require.True(t, d.Failed())
	d.requireVerdict(t, "not recovered")
	require.Contains(t, d.text(), "listed as known-bad: 0 of 60 sends")
}

func TestKnownBadThatRecoversFails(t *testing.T) {
	for name, open := range map[string]string{"open": "no release yet", "closed": ""} {
		t.Run(name, func(t *testing.T) {
			d, _ := scenario(t, func(tb testing.TB) {
				e := New(tb, Case{KnownBad: []Combination{{Evidence: "0 of 60 sends", Open: open}}})
				e.Inject(harmless).Heal()
				e.Recovers("it sends", time.Second, succeeds)
			})
			require.True(t, d.Failed())
			require.Contains(t, d.text(), "the entry or the check is wrong")
		})
	}
}

func TestNotRunIsAFailureWhereEverythingIsRequired(t *testing.T) {
	for value, fails := range map[string]bool{"0": false, "1": true} {
		t.Run(value, func(t *testing.T) {
			t.Setenv("BROKERFAULT_REQUIRE", value)
			d, _ := scenario(t, func(tb testing.TB) { New(tb, Case{}).NotRun("it needs three brokers") })
			require.Equal(t, fails, d.Failed())
			require.Equal(t, !fails, d.Skipped())
			d.requireVerdict(t, "not run")
			require.Equal(t, "it needs three brokers", d.attrs["reason"])
		})
	}
}

func TestAssertionOfTheTestIsNobodysFault(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		New(tb, Case{}).Inject(harmless).Heal()
		require.Equal(tb, 1, 2)
	})
	require.True(t, d.Failed())
	d.requireVerdict(t, "not recovered")
	require.Equal(t, "unknown", d.attrs["at_fault"])
}

func TestBrokerThatRunsOutOfMemoryIsTheEnvironmentsFaultAndSaysSo(t *testing.T) {
	t.Parallel()
	n := &fakeNode{log: filepath.Join(t.TempDir(), "kafka-1.log")}
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		withFake(e, n)
		e.Inject(harmless).Heal()
		e.Recovers("it sends", 5*time.Second, func(ctx context.Context) error {
			require.NoError(t, n.say("INFO fine\nTerminating due to java.lang.OutOfMemoryError: Java heap space\n"))
			e.brokers[0].died("kafka-1", errors.New("exit status 3"))
			<-ctx.Done()
			return ctx.Err()
		})
	})
	d.requireVerdict(t, "environment")
	require.Contains(t, d.attrs["reason"], "kafka-1 ended unasked (exit status 3): it ran out of memory: Terminating due to java.lang.OutOfMemoryError: Java heap space")
}
