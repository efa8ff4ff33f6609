package link

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCutResetsOpenAndNewConnectionsUntilRestore(t *testing.T) {
	l := open(t, serve(t, echo))
	address := l.Address()
	before := dial(t, address)
	roundTrip(t, before)

	l.Cut()
	l.Cut()
	requireReset(t, before)
	requireRefused(t, address)
	got := l.Counts()
	require.Equal(t, Counts{Accepted: 2, Refused: 1, Reset: 1, BytesUp: 4, BytesDown: 4, Touched: 2}, got)

	l.Restore()
	l.Restore()
	roundTrip(t, dial(t, address))
	require.Equal(t, got.Touched, l.Counts().Touched)
}

func TestCutReachesTheServerSide(t *testing.T) {
	ended := make(chan error, 1)
	l := open(t, serve(t, func(conn *net.TCPConn) {
		_, _ = conn.Write([]byte("hello"))
		_, err := conn.Read(make([]byte, 1))
		ended <- err
	}))
	conn := dial(t, l.Address())
	_, err := io.ReadFull(conn, make([]byte, 5))
	require.NoError(t, err)
	l.Cut()
	select {
	case err := <-ended:
		require.Error(t, err)
		require.NotErrorIs(t, err, io.EOF)
	case <-time.After(patience):
		require.Fail(t, "server side stays open")
	}
}

func TestDelayActsOnOpenConnectionsUntilItIsLifted(t *testing.T) {
	const delay = 250 * time.Millisecond
	l := open(t, serve(t, echo))
	conn := dial(t, l.Address())
	roundTrip(t, conn)
	require.Zero(t, l.Counts().Touched)
	for range 3 {
		l.Delay(delay)
		require.GreaterOrEqual(t, roundTrip(t, conn), 2*delay, "both directions are delayed")
		l.Delay(0)
		require.Less(t, roundTrip(t, conn), delay)
	}
	require.EqualValues(t, 3*2*4, l.Counts().Touched)
}

func TestFirstChunkAfterAChangeIsDelayed(t *testing.T) {
	const delay = 5 * time.Millisecond
	l := open(t, serve(t, echo))
	conn := dial(t, l.Address())
	for range 100 {
		l.Delay(delay)
		require.GreaterOrEqual(t, roundTrip(t, conn), 2*delay)
		l.Delay(0)
		roundTrip(t, conn)
	}
}

func TestThrottleLimitsTheRate(t *testing.T) {
	const size, rate = 100_000, 200_000
	l := open(t, serve(t, func(conn *net.TCPConn) { _, _ = conn.Write(make([]byte, size)) }))
	l.Throttle(rate)
	start := time.Now()
	got, err := io.ReadAll(dial(t, l.Address()))
	require.NoError(t, err)
	require.Len(t, got, size)
	require.GreaterOrEqual(t, time.Since(start), 450*time.Millisecond)
	require.Less(t, time.Since(start), 5*time.Second)
	require.EqualValues(t, size, l.Counts().Touched)
}

func TestLiftingReleasesWhatIsHeldBack(t *testing.T) {
	for name, fault := range map[string]func(*Link){
		"delay":    func(l *Link) { l.Delay(time.Hour) },
		"throttle": func(l *Link) { l.Throttle(1) },
	} {
		t.Run(name, func(t *testing.T) {
			const size = 1 << 20
			l := open(t, serve(t, func(conn *net.TCPConn) { _, _ = conn.Write(make([]byte, size)) }))
			fault(l)
			conn := dial(t, l.Address())
			require.Eventually(t, func() bool { return l.Counts().Touched == size }, patience, time.Millisecond)
			l.Delay(0)
			l.Throttle(0)
			require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
			got, err := io.ReadAll(conn)
			require.NoError(t, err)
			require.Len(t, got, size)
		})
	}
}

func TestCutAndCloseDoNotWaitForWhatIsHeldBack(t *testing.T) {
	for name, fault := range map[string]func(*Link){
		"delay":    func(l *Link) { l.Delay(time.Hour) },
		"throttle": func(l *Link) { l.Throttle(1) },
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, serve(t, func(conn *net.TCPConn) { _, _ = conn.Write(make([]byte, 1<<20)) }))
			fault(l)
			cut := dial(t, l.Address())
			require.Eventually(t, func() bool { return l.Counts().Touched == 1<<20 }, patience, time.Millisecond)
			l.Cut()
			requireResetAfterBytes(t, cut)
			l.Restore()
			dial(t, l.Address())
			require.Eventually(t, func() bool { return l.Counts().Touched > 2<<20 }, patience, time.Millisecond)
			start := time.Now()
			require.NoError(t, l.Close())
			require.Less(t, time.Since(start), patience)
		})
	}
}

// A throttled piece may have arrived before the cut.
func requireResetAfterBytes(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err := io.Copy(io.Discard, conn)
	require.ErrorContains(t, err, "reset")
}

// A stopped broker does not read; the faults of its link must still be set and
// lifted at once.
func TestFaultsDoNotWaitForAPeerThatDoesNotRead(t *testing.T) {
	for name, first := range map[string]func(*Link){
		"straight": func(*Link) {},
		"shaped":   func(l *Link) { l.Delay(time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			l := open(t, serve(t, func(*net.TCPConn) { <-release }))
			defer close(release)
			first(l)
			conn := dial(t, l.Address())
			flood := make(chan struct{})
			go func() {
				defer close(flood)
				_, _ = io.Copy(conn, zeros{})
			}()
			last := int64(-1)
			require.Eventually(t, func() bool {
				stalled := last == l.Counts().BytesUp && last > 0
				last = l.Counts().BytesUp
				return stalled
			}, patience, 50*time.Millisecond)

			start := time.Now()
			l.Delay(time.Second)
			l.Throttle(1000)
			l.Delay(0)
			l.Throttle(0)
			l.Cut()
			l.Restore()
			require.NoError(t, l.Close())
			require.Less(t, time.Since(start), patience)
			<-flood
		})
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }
