package link

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// silence is how long nothing has to come for it to count as nothing.
const silence = 100 * time.Millisecond

func requireSilence(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(silence)))
	_, err := conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestSwallowTakesOneDirectionOfOpenAndNewConnectionsAndLeavesTheOther(t *testing.T) {
	hears := func(conn net.Conn, word string) bool {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(silence)))
		got := make([]byte, len(word))
		_, err := io.ReadFull(conn, got)
		return err == nil && string(got) == word
	}
	for name, test := range map[string]struct {
		direction Direction
		up, down  bool // what passes
	}{"up": {Up, false, true}, "down": {Down, true, false}} {
		t.Run(name, func(t *testing.T) {
			heard, speak := make(chan string, 10), make(chan string)
			l := open(t, serve(t, func(conn *net.TCPConn) {
				go func() {
					for word := range speak {
						_, _ = conn.Write([]byte(word))
					}
				}()
				for b := make([]byte, 4); ; {
					if _, err := io.ReadFull(conn, b); err != nil {
						return
					}
					heard <- string(b)
				}
			}))
			defer close(speak)
			conn := dial(t, l.Address())
			_, err := conn.Write([]byte("open"))
			require.NoError(t, err)
			require.Equal(t, "open", <-heard)

			l.Swallow(test.direction)
			l.Swallow(test.direction)
			_, err = conn.Write([]byte("ping"))
			require.NoError(t, err)
			select {
			case <-heard:
				require.True(t, test.up)
			case <-time.After(silence):
				require.False(t, test.up)
			}
			speak <- "pong"
			require.Equal(t, test.down, hears(conn, "pong"))
			counts := l.Counts()
			require.Equal(t, map[bool]int64{true: 0, false: 4}[test.up], counts.SwallowedUp)
			require.Equal(t, map[bool]int64{true: 0, false: 4}[test.down], counts.SwallowedDown)
			require.EqualValues(t, 4, counts.Touched)

			l.Deliver(test.direction)
			l.Deliver(test.direction)
			requireReset(t, conn)
			_, err = dial(t, l.Address()).Write([]byte("anew"))
			require.NoError(t, err)
			require.Equal(t, "anew", <-heard)
		})
	}
}

func TestDeliverLeavesConnectionsAloneThatLostNothing(t *testing.T) {
	l := open(t, serve(t, echo))
	quiet := dial(t, l.Address())
	roundTrip(t, quiet)
	l.Swallow(Up)
	l.Deliver(Up)
	roundTrip(t, quiet)
	require.Zero(t, l.Counts().Touched)
}

func TestEndIsSwallowedToo(t *testing.T) {
	for name, end := range map[string]func(*net.TCPConn){
		"close": func(conn *net.TCPConn) { _ = conn.Close() },
		"reset": reset,
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 1)
			l := open(t, serve(t, func(conn *net.TCPConn) {
				_, _ = conn.Write([]byte("hello"))
				_, err := conn.Read(make([]byte, 1))
				ended <- err
			}))
			conn := dial(t, l.Address())
			_, err := io.ReadFull(conn, make([]byte, 5))
			require.NoError(t, err)
			l.Swallow(Up)
			end(conn)
			select {
			case err := <-ended:
				require.Fail(t, "the server heard of it", err)
			case <-time.After(silence):
			}
			l.Deliver(Up)
			require.Error(t, <-ended)
		})
	}
}

// A chain that holds bytes back must not be left waiting.
func TestSwallowGoesWithADelay(t *testing.T) {
	l := open(t, serve(t, echo))
	conn := dial(t, l.Address())
	l.Delay(time.Millisecond)
	roundTrip(t, conn)
	l.Swallow(Down)
	_, err := conn.Write([]byte("ping"))
	require.NoError(t, err)
	requireSilence(t, conn)
	require.NoError(t, conn.CloseWrite())
	l.Deliver(Down)
	requireReset(t, conn)
}

func TestRefuseResetsNewConnectionsOnly(t *testing.T) {
	l := open(t, serve(t, echo))
	before := dial(t, l.Address())
	roundTrip(t, before)
	l.Refuse()
	l.Refuse()
	requireRefused(t, l.Address())
	roundTrip(t, before)
	require.EqualValues(t, 1, l.Counts().Touched)
	l.Admit()
	l.Admit()
	roundTrip(t, dial(t, l.Address()))
	roundTrip(t, before)
}

func TestRefusalAndCutEndApart(t *testing.T) {
	l := open(t, serve(t, echo))
	l.Refuse()
	l.Cut()
	l.Restore()
	requireRefused(t, l.Address())
	l.Admit()
	roundTrip(t, dial(t, l.Address()))
}

func TestResetIsOnceAndCountsWhatWasOpen(t *testing.T) {
	l := open(t, serve(t, echo))
	require.Zero(t, l.Reset())
	first, second := dial(t, l.Address()), dial(t, l.Address())
	roundTrip(t, first)
	roundTrip(t, second)
	require.True(t, l.Carries(first.LocalAddr().String()))
	require.Equal(t, 2, l.Reset())
	require.False(t, l.Carries(first.LocalAddr().String()))
	requireReset(t, first)
	requireReset(t, second)
	require.Zero(t, l.Reset())
	roundTrip(t, dial(t, l.Address()))
	require.Equal(t, Counts{Accepted: 3, Reset: 2, BytesUp: 12, BytesDown: 12, Touched: 2}, l.Counts())
}

func TestEchoMeasuresTheShape(t *testing.T) {
	l := open(t, "") // it needs no target
	const n = 100_000
	took, err := l.Echo(t.Context(), n)
	require.NoError(t, err)
	require.Less(t, took, 200*time.Millisecond)

	l.Throttle(4 * n)
	took, err = l.Echo(t.Context(), n)
	require.NoError(t, err)
	require.GreaterOrEqual(t, took, 240*time.Millisecond)

	l.Delay(0)
	l.Delay(50 * time.Millisecond)
	took, err = l.Echo(t.Context(), 1)
	require.NoError(t, err)
	require.GreaterOrEqual(t, took, 100*time.Millisecond)
}

func TestEchoEndsWhateverTheLinkDoes(t *testing.T) {
	for name, fault := range map[string]func(*Link){
		"throttle": func(l *Link) { l.Throttle(1) },
		"delay":    func(l *Link) { l.Delay(time.Hour) },
		"up":       func(l *Link) { l.Swallow(Up) },
		"down":     func(l *Link) { l.Swallow(Down) },
		"cut":      func(l *Link) { l.Cut() },
		"refuse":   func(l *Link) { l.Refuse() },
		"closed":   func(l *Link) { _ = l.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, "")
			fault(l)
			ctx, cancel := context.WithTimeoutCause(t.Context(), silence, errors.New("long enough"))
			defer cancel()
			_, err := l.Echo(ctx, 1<<20)
			require.Error(t, err)
		})
	}
}
