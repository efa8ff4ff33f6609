package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/link"
)

// echoes greets an echo.
func echoes(conn net.Conn) error {
	if _, err := conn.Write([]byte("ping")); err != nil {
		return err
	}
	answer := make([]byte, 4)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return err
	}
	if string(answer) != "ping" {
		return errors.New("that is no echo")
	}
	return nil
}

// echoBroker is a broker of an Env that consists of echoes behind links.
func echoBroker(t *testing.T, e *Env, nodes ...string) *Broker {
	t.Helper()
	b := &Broker{
		env: e, holder: &holder{env: e}, name: "the echo", links: map[string]*link.Link{},
		plan: plan{name: "echo", version: "1", setting: "BROKERFAULT_ECHO=1", greet: map[string]greeting{"client": echoes}},
	}
	for _, node := range nodes {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					_, _ = io.Copy(conn, conn)
					_ = conn.Close()
				}()
			}
		}()
		b.links[node+"/client"], err = link.Listen(node)
		require.NoError(t, err)
		b.links[node+"/client"].Forward(func() (string, error) { return l.Addr().String(), nil })
	}
	e.brokers = append(e.brokers, b)
	return b
}

// connected is a client's connection to a node that has been used.
func connected(t *testing.T, b *Broker, node string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", b.links[node+"/client"].Address())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	require.NoError(t, echoes(conn))
	return conn
}

// long is far above what a round trip takes on a busy machine.
const long = 200 * time.Millisecond

// linkFaults are those of a broker's links.
var linkFaults = map[string]func(b *Broker) Fault{
	"cut":            (*Broker).Cut,
	"cut to broker":  (*Broker).CutToBroker,
	"cut to clients": (*Broker).CutToClients,
	"latency":        func(b *Broker) Fault { return b.Latency(long) },
	"throttle":       func(b *Broker) Fault { return b.Throttle(100_000) },
	"refusal":        (*Broker).RefuseConnections,
}

func TestLinkFaultsBiteHealAndMayComeAgain(t *testing.T) {
	for name, fault := range linkFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := scenario(t, func(tb testing.TB) {
				e := New(tb, Case{})
				b := echoBroker(t, e, "one", "two")
				greets := func(ctx context.Context) error {
					return b.eachLink(ctx, func(ctx context.Context, at linkPort) error {
						return greetAt(ctx, at.link.Address(), at.greet)
					})
				}
				for range 2 {
					i := e.Inject(fault(b))
					i.Heal()
					i.Heal()
					e.Recovers("it greets", 5*time.Second, greets)
					e.Within("it greets faster than a slowed link would", 5*time.Second, func(ctx context.Context) error {
						began := time.Now()
						err := greets(ctx)
						return errors.Join(err, below(long, time.Since(began)))
					})
				}
				require.Empty(tb, b.env.laid.by[b.links["one/client"]])
			})
			d.requireVerdict(t, "recovered")
		})
	}
}

func below(limit, took time.Duration) error {
	if took >= limit {
		return fmt.Errorf("it took %v, not below %v", took, limit)
	}
	return nil
}

func TestLinkFaultThatWasNotAppliedDoesNotBite(t *testing.T) {
	for name, fault := range linkFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := scenario(t, func(tb testing.TB) {
				e := New(tb, Case{})
				f := fault(echoBroker(t, e, "one"))
				f.Apply, f.BitesWithin = succeeds, short
				e.Inject(f)
			})
			d.requireVerdict(t, "environment")
			require.Contains(t, d.attrs["reason"], "did not bite")
		})
	}
}

// What a fault of one node does not do is hurt the others, and half a fault is none.
func TestLinkFaultThatLiesOnOneLinkOfTwoDoesNotBite(t *testing.T) {
	for name, fault := range linkFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := scenario(t, func(tb testing.TB) {
				e := New(tb, Case{})
				b := echoBroker(t, e, "one", "two")
				one := *b
				one.links = map[string]*link.Link{"one/client": b.links["one/client"]}
				f, both := fault(&one), fault(b)
				f.Bites, f.BitesWithin = both.Bites, short
				e.Inject(f)
			})
			d.requireVerdict(t, "environment")
			require.Contains(t, d.attrs["reason"], "did not bite")
		})
	}
}

func TestSecondFaultOfAKindIsRefusedWhileTheFirstLies(t *testing.T) {
	for name, fault := range linkFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := scenario(t, func(tb testing.TB) {
				e := New(tb, Case{})
				b := echoBroker(t, e, "one")
				e.Inject(fault(b))
				e.Inject(fault(b))
			})
			d.requireVerdict(t, "environment")
			require.Contains(t, d.attrs["reason"], "has such a fault already")
		})
	}
}

func TestCleanupHealsLinkFaults(t *testing.T) {
	for name, fault := range linkFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b *Broker
			var atClose error
			scenario(t, func(tb testing.TB) {
				e := New(tb, Case{})
				b = echoBroker(t, e, "one")
				e.Closes("the client", func() { atClose = greetAt(t.Context(), b.links["one/client"].Address(), echoes) })
				e.Inject(fault(b))
			})
			require.NoError(t, atClose, "it is healed before the clients are closed")
			require.Empty(t, b.env.laid.by[b.links["one/client"]])
		})
	}
}

func TestOneWayCutsLeaveConnectionsOpenAndTheOtherWayAlone(t *testing.T) {
	for name, fault := range map[string]func(b *Broker) Fault{"to broker": (*Broker).CutToBroker, "to clients": (*Broker).CutToClients} {
		t.Run(name, func(t *testing.T) {
			scenario(t, func(tb testing.TB) {
				e := New(tb, Case{})
				b := echoBroker(t, e, "one")
				conn, quiet := connected(t, b, "one"), connected(t, b, "one")
				i := e.Inject(fault(b))
				_, err := conn.Write([]byte("ping"))
				require.NoError(tb, err)
				require.NoError(tb, conn.SetReadDeadline(time.Now().Add(short)))
				_, err = conn.Read(make([]byte, 1))
				require.True(tb, timedOut(err), err)
				i.Heal()
				require.NoError(tb, wasReset(conn), "what has lost something is reset")
				require.NoError(tb, echoes(quiet), "what has lost nothing goes on")
			})
		})
	}
}

func TestRefusalLeavesOpenConnectionsAlone(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		b := echoBroker(t, e, "one")
		conn := connected(t, b, "one")
		i := e.Inject(b.RefuseConnections())
		require.NoError(tb, echoes(conn))
		i.Heal()
		e.Recovers("it greets", time.Second, func(ctx context.Context) error {
			return greetAt(ctx, b.links["one/client"].Address(), echoes)
		})
		require.NoError(tb, echoes(conn))
	})
	d.requireVerdict(t, "recovered")
}

// A refusal that cuts open connections as well is something else.
func TestRefusalThatResetsOpenConnectionsDoesNotBite(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		b := echoBroker(t, e, "one")
		f := b.RefuseConnections()
		apply := f.Apply
		f.Apply = func(ctx context.Context) error {
			err := apply(ctx)
			b.links["one/client"].Reset()
			return err
		}
		e.Inject(f)
	})
	d.requireVerdict(t, "environment")
	require.Contains(t, d.attrs["reason"], "that was open before does not go on")
}

func TestResetConnectionsResetsOnceAndLetsNewOnesThrough(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		b := echoBroker(t, e, "one", "two")
		conn := connected(t, b, "two")
		e.Inject(b.ResetConnections())
		require.NoError(tb, wasReset(conn))
		e.Recovers("it greets", time.Second, func(ctx context.Context) error {
			return greetAt(ctx, b.links["two/client"].Address(), echoes)
		})
	})
	d.requireVerdict(t, "recovered")
}

func TestResetOfNobodysConnectionsProvesNothing(t *testing.T) {
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		e.Inject(echoBroker(t, e, "one").ResetConnections())
	})
	d.requireVerdict(t, "environment")
	require.Contains(t, d.attrs["reason"], "no client was connected to the echo")
}

func TestLinkFaultsRefuseWhatTheyCannotDo(t *testing.T) {
	for want, fault := range map[string]func(b *Broker) Fault{
		"a latency of 0s: it can be 1ms to 1m0s":                      func(b *Broker) Fault { return b.Latency(0) },
		"a latency of 2m0s: it can be 1ms to 1m0s":                    func(b *Broker) Fault { return b.Latency(2 * time.Minute) },
		"a throttle to 0 bytes a second: it can be 1 to 16777216":     func(b *Broker) Fault { return b.Throttle(0) },
		"a throttle to 16777217 bytes a second: it can be 1 to 16777": func(b *Broker) Fault { return b.Throttle(16<<20 + 1) },
		"has no port that clients use": func(b *Broker) Fault {
			b.links = nil
			return b.Cut()
		},
		"two/client has no handshake": func(b *Broker) Fault {
			b.plan.greet = nil
			return b.Cut()
		},
	} {
		t.Run(want, func(t *testing.T) {
			d, _ := scenario(t, func(tb testing.TB) {
				e := New(tb, Case{})
				e.Inject(fault(echoBroker(t, e, "two")))
			})
			d.requireVerdict(t, "environment")
			require.Contains(t, d.attrs["reason"], want)
		})
	}
}
