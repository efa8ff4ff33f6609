package link

import (
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServerEndReachesTheClientAfterAllBytes(t *testing.T) {
	for name, fault := range map[string]func(*Link){
		"straight":  func(*Link) {},
		"delayed":   func(l *Link) { l.Delay(50 * time.Millisecond) },
		"throttled": func(l *Link) { l.Throttle(16 << 20) },
	} {
		t.Run(name, func(t *testing.T) {
			want := make([]byte, 4<<20)
			_, _ = rand.Read(want)
			l := open(t, serve(t, func(conn *net.TCPConn) { _, _ = conn.Write(want) }))
			fault(l)
			got, err := io.ReadAll(dial(t, l.Address()))
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got), "bytes differ: got %d of %d", len(got), len(want))
		})
	}
}

func TestClientHalfCloseLeavesTheAnswerItsWay(t *testing.T) {
	l := open(t, serve(t, func(conn *net.TCPConn) {
		question, _ := io.ReadAll(conn)
		_, _ = conn.Write(append(question, '!'))
	}))
	conn := dial(t, l.Address())
	_, err := conn.Write([]byte("asked"))
	require.NoError(t, err)
	require.NoError(t, conn.CloseWrite())
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, "asked!", string(answer))
}

func TestClientCloseClosesTheServerSide(t *testing.T) {
	ended := make(chan error, 1)
	l := open(t, serve(t, func(conn *net.TCPConn) {
		_, err := io.Copy(io.Discard, conn)
		ended <- err
	}))
	require.NoError(t, dial(t, l.Address()).Close())
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(patience):
		require.Fail(t, "server side stays open")
	}
}

func TestServerResetReachesTheClient(t *testing.T) {
	l := open(t, serve(t, func(conn *net.TCPConn) {
		_, _ = conn.Read(make([]byte, 1))
		reset(conn)
	}))
	conn := dial(t, l.Address())
	_, err := conn.Write([]byte("x"))
	require.NoError(t, err)
	requireReset(t, conn)
	require.Zero(t, l.Counts().Reset, "only a cut counts as reset")
}

func TestRefusalBehindARelayIsAReset(t *testing.T) {
	silent := serve(t, func(*net.TCPConn) {}) // ends at once, as a relay does that finds nobody
	l := open(t, silent)
	_, err := dial(t, l.Address()).Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "without a relay the end is the target's own")

	l.Relayed()
	requireRefused(t, l.Address())
	require.Equal(t, Counts{Accepted: 2, Refused: 1}, l.Counts())
}

func TestEndBehindARelayReachesTheClient(t *testing.T) {
	for name, server := range map[string]func(*net.TCPConn){
		"after a word":           func(conn *net.TCPConn) { _, _ = conn.Write([]byte("x")) },
		"after the client's own": func(conn *net.TCPConn) { _, _ = io.Copy(io.Discard, conn) },
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, serve(t, server))
			l.Relayed()
			conn := dial(t, l.Address())
			if name != "after a word" {
				require.NoError(t, conn.CloseWrite())
			}
			_, err := io.ReadAll(conn)
			require.NoError(t, err)
		})
	}
}

func TestBytesStayInOrderWhileTheShapeChanges(t *testing.T) {
	l := open(t, serve(t, echo))
	conn := dial(t, l.Address())
	want := make([]byte, 8<<20)
	_, _ = rand.Read(want)

	stop, changed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(changed)
		lifted := func() { l.Delay(0); l.Throttle(0) }
		changes := []func(){
			func() { l.Delay(3 * time.Millisecond) },
			func() { l.Throttle(32 << 20) },
			lifted,
			func() { l.Throttle(1 << 20) },
			func() { l.Delay(time.Millisecond) },
			lifted,
		}
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				changes[i%len(changes)]()
			}
		}
	}()
	go func() {
		_, _ = conn.Write(want)
		_ = conn.CloseWrite()
	}()
	got, err := io.ReadAll(conn)
	close(stop)
	<-changed
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "bytes differ: got %d of %d", len(got), len(want))
}
