package testenv

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBrokerIsSharedUntilItIsHarmed has four tests of a case that shares, and one of
// a case that does not between them.
func TestBrokerIsSharedUntilItIsHarmed(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts brokers")
	}
	t.Setenv("BROKERFAULT_BACKEND", places(t)[0])
	requireRuntime(t)
	share := Case{Name: "testenv/share", Claim: "a test takes over the broker of an earlier one", Shares: true}
	own := Case{Name: "testenv/own", Claim: "a test has a broker of its own"}
	spec := KafkaSpec{Config: map[string]string{"log.retention.hours": "1"}}

	first := addressIn(t, share, spec, nil)
	require.Equal(t, first, addressIn(t, share, spec, nil), "a later test gets the same broker")
	require.NotEqual(t, first, addressIn(t, own, spec, nil), "a case that does not share has its own")
	require.NotEqual(t, first, addressIn(t, share, KafkaSpec{}, changed), "another spec is another broker")
	require.Equal(t, first, addressIn(t, share, spec, (*Broker).Kill), "what was done to the other broker changes nothing")
	leftKilled(t, share, KafkaSpec{})
	require.Equal(t, first, addressIn(t, share, spec, changed), "one that was killed and came back is as good")
	require.NotEqual(t, first, addressIn(t, share, spec, changed), "one that is no longer what its spec says is nobody's")
	require.Empty(t, idle.brokers)
}

// changed starts a broker with another configuration.
func changed(b *Broker) Fault {
	return b.RestartWith(Change{Config: map[string]string{"num.io.threads": "3"}})
}

// addressIn runs a test that does something harmless to its broker, or harm.
func addressIn(t testing.TB, c Case, spec KafkaSpec, harm func(*Broker) Fault) (address string) {
	t.Helper()
	d, panicked := scenario(t, func(tb testing.TB) {
		e := New(tb, c)
		k := e.StartKafka(spec)
		address = k.Addresses()[0]
		fault := k.Cut()
		if harm != nil {
			fault = harm(k.Broker)
		}
		e.Inject(fault).Heal()
		e.Recovers("a handshake succeeds", 10*time.Second, func(ctx context.Context) error {
			return errors.Join(k.greets(ctx)...)
		})
	})
	require.Nil(t, panicked)
	d.requireVerdict(t, "recovered")
	return address
}

// leftKilled runs a test that kills its broker at its end.
func leftKilled(t *testing.T, c Case, spec KafkaSpec) {
	t.Helper()
	d, panicked := scenario(t, func(tb testing.TB) {
		e := New(tb, c)
		k := e.StartKafka(spec)
		e.Inject(k.Cut()).Heal()
		e.Recovers("a handshake succeeds", 10*time.Second, func(ctx context.Context) error { return errors.Join(k.greets(ctx)...) })
		e.Inject(k.Kill())
		e.Within("nobody answers", 10*time.Second, k.gone)
	})
	require.Nil(t, panicked)
	d.requireVerdict(t, "recovered")
}

func TestIdleBrokerThatDiedIsNotLent(t *testing.T) {
	h := &holder{}
	require.True(t, h.hand(nil))
	h.died(&brokerDied{node: "kafka-1"})
	require.False(t, h.hand(nil))
}

// What is not closed would talk to the broker beside a later test.
func TestBrokerIsNobodysWhileSomethingOfTheTestIsLeftBehind(t *testing.T) {
	for name, leave := range map[string]func(e *Env, until <-chan struct{}){
		"nothing":     func(*Env, <-chan struct{}) {},
		"a client":    func(e *Env, until <-chan struct{}) { e.Closes("the client", func() { <-until }) },
		"a goroutine": func(e *Env, until <-chan struct{}) { e.Go(func(context.Context) { <-until }) },
	} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			defer close(release)
			var e *Env
			d, _ := scenario(t, func(tb testing.TB) {
				e = New(tb, Case{})
				e.deadline = time.Now().Add(2 * time.Second) // the clean-up waits for nothing for long
				leave(e, release)
				e.Inject(harmless).Heal()
				e.Recovers("it sends", short, succeeds)
			})
			d.requireVerdict(t, "recovered")
			require.Equal(t, name != "nothing", e.harmed)
		})
	}
}
