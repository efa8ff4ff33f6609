package link

import (
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// patience bounds what is expected to happen at once.
const patience = 10 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve is a broker: handle gets each connection and owns it.
func serve(t testing.TB, handle func(*net.TCPConn)) string {
	t.Helper()
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.AcceptTCP()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
	return listener.Addr().String()
}

func echo(conn *net.TCPConn) { _, _ = io.Copy(conn, conn) }

// open returns a link to target that is closed before the target is.
func open(t testing.TB, target string) *Link {
	t.Helper()
	l, err := Listen(t.Name())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	if target != "" {
		l.Forward(func() (string, error) { return target, nil })
	}
	return l
}

func dial(t testing.TB, address string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// roundTrip sends a word to an echo and returns how long its return took.
func roundTrip(t testing.TB, conn net.Conn) time.Duration {
	t.Helper()
	start := time.Now()
	require.NoError(t, conn.SetDeadline(start.Add(patience)))
	_, err := conn.Write([]byte("ping"))
	require.NoError(t, err)
	answer := make([]byte, 4)
	_, err = io.ReadFull(conn, answer)
	require.NoError(t, err)
	require.Equal(t, "ping", string(answer))
	return time.Since(start)
}

func requireReset(t testing.TB, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err := conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

// requireRefused wants a new connection to be reset. The reset may win against the
// dial's own last look at the socket.
func requireRefused(t testing.TB, address string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		require.ErrorIs(t, err, syscall.ECONNRESET)
		return
	}
	defer conn.Close()
	requireReset(t, conn)
}

func TestConnectionsAreResetUntilForward(t *testing.T) {
	l := open(t, "")
	address := l.Address()
	requireRefused(t, address)
	require.Equal(t, Counts{Accepted: 1, Refused: 1}, l.Counts())

	target := serve(t, echo)
	l.Forward(func() (string, error) { return target, nil })
	roundTrip(t, dial(t, address))
	require.Equal(t, address, l.Address())
}

func TestTargetIsAskedForEachConnection(t *testing.T) {
	say := func(word string) func(*net.TCPConn) {
		return func(conn *net.TCPConn) { _, _ = conn.Write([]byte(word)) }
	}
	first, second := serve(t, say("first")), serve(t, say("second"))
	targets := make(chan string, 2)
	targets <- first
	targets <- second
	l := open(t, "")
	l.Forward(func() (string, error) { return <-targets, nil })
	for _, want := range []string{"first", "second"} {
		got, err := io.ReadAll(dial(t, l.Address()))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestDeadTargetResetsTheClient(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	l := open(t, gone.Addr().String())
	start := time.Now()
	requireRefused(t, l.Address())
	require.Less(t, time.Since(start), dialTimeout/2)
	require.Equal(t, Counts{Accepted: 1, Refused: 1}, l.Counts())
}

func TestCountsBytesByDirection(t *testing.T) {
	l := open(t, serve(t, func(conn *net.TCPConn) {
		_, _ = io.CopyN(io.Discard, conn, 10)
		_, _ = conn.Write(make([]byte, 300))
	}))
	conn := dial(t, l.Address())
	_, err := conn.Write(make([]byte, 10))
	require.NoError(t, err)
	got, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Len(t, got, 300)
	require.NoError(t, l.Close())
	require.Equal(t, Counts{Accepted: 1, BytesUp: 10, BytesDown: 300}, l.Counts())
}

func TestCloseResetsConnectionsAndMayBeCalledAgain(t *testing.T) {
	l := open(t, serve(t, echo))
	conn := dial(t, l.Address())
	roundTrip(t, conn)
	require.NoError(t, l.Close())
	requireReset(t, conn)
	require.NoError(t, l.Close())
	_, err := net.Dial("tcp", l.Address())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
}
