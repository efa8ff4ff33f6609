package kafkawire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func receives(t *testing.T, conn net.Conn, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	_, err := io.ReadFull(conn, got)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
}

func write(t testing.TB, conn net.Conn, data []byte) {
	t.Helper()
	_, err := conn.Write(data)
	require.NoError(t, err)
}

func TestHugeFramesAreStreamed(t *testing.T) {
	const body = 100 << 20
	r := New()
	late := r.Add(Match{Key: produce, Responses: true, Nth: 1}, Delay(50*time.Millisecond))
	l := open(t, r, serve(t, func(conn *net.TCPConn) {
		got, _ := io.CopyN(io.Discard, conn, int64(requestBytes+body))
		if got != int64(requestBytes+body) {
			return
		}
		_, _ = conn.Write(response(1, body))
	}))
	conn := dial(t, l.Address())
	frame, answer := request(produce, 1, body), response(1, body)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	write(t, conn, frame)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10<<20))
	receives(t, conn, answer)
	require.EqualValues(t, 1, late.Acted())
}

func TestHeldFrameSurvivesTheClientsEnd(t *testing.T) {
	r := New()
	held := r.Add(Match{Key: produce}, Hold())
	arrived := make(chan []byte, 1)
	l := open(t, r, serve(t, func(conn *net.TCPConn) {
		got, _ := io.ReadAll(conn)
		arrived <- got
	}))
	conn := dial(t, l.Address())
	write(t, conn, request(produce, 1, 1000))
	require.Eventually(t, func() bool { return held.Acted() == 1 }, patience, time.Millisecond)
	require.NoError(t, conn.Close())
	select {
	case <-arrived:
		require.Fail(t, "the end went past what is held")
	case <-time.After(50 * time.Millisecond):
	}
	held.Remove()
	require.Equal(t, request(produce, 1, 1000), <-arrived)
}

func TestCutAndCloseDoNotWaitForHeldFrames(t *testing.T) {
	r := New()
	held := r.Add(Match{Key: produce, Responses: true}, Hold())
	l := open(t, r, serve(t, answers(100<<10)))
	flood := func() (net.Conn, <-chan error) {
		conn, ended := dial(t, l.Address()), make(chan error, 1)
		go func() { // until the back pressure stops it, and then the reset
			for id := int32(0); ; id++ {
				if _, err := conn.Write(request(produce, id, 1000)); err != nil {
					ended <- err
					return
				}
			}
		}()
		return conn, ended
	}
	conn, ended := flood()
	require.Eventually(t, func() bool { return held.Acted() > 100 }, patience, time.Millisecond)
	l.Cut()
	_, err := conn.Read(make([]byte, 1))
	// The kernel tells a reset once, to whichever of reader and writer asks first.
	require.ErrorContains(t, errors.Join(err, <-ended), "reset")
	l.Restore()
	seen := held.Acted()
	flood()
	require.Eventually(t, func() bool { return held.Acted() > seen+100 }, patience, time.Millisecond)
	began := time.Now()
	require.NoError(t, l.Close())
	require.Less(t, time.Since(began), patience)
	require.NotZero(t, l.Counts().Touched)
}

func TestLoseResetsTheClient(t *testing.T) {
	r := New()
	lost := r.Add(Match{Key: metadata, Responses: true, Nth: 1}, Lose())
	l := open(t, r, serve(t, answers(10)))
	conn := dial(t, l.Address())
	write(t, conn, request(metadata, 1, 0))
	_, err := conn.Read(make([]byte, 1))
	require.ErrorContains(t, err, "reset")
	require.Eventually(t, func() bool { return lost.Acted() == 1 }, patience, time.Millisecond)
	require.EqualValues(t, 1, l.Counts().Reset)

	again := dial(t, l.Address())
	write(t, again, request(metadata, 1, 0))
	receives(t, again, response(1, 10))
}

func TestRulesAndShapesWorkTogether(t *testing.T) {
	const d = 100 * time.Millisecond
	r := New()
	late := r.Add(Match{Key: metadata, Responses: true}, Delay(d))
	r.Add(Match{Key: produce, Responses: true}, Drop())
	l := open(t, r, serve(t, answers(50<<10)))
	l.Delay(d)
	l.Throttle(1 << 20)
	conn := dial(t, l.Address())
	began := time.Now()
	write(t, conn, slices.Concat(request(produce, 1, 10), request(metadata, 2, 10)))
	receives(t, conn, response(2, 50<<10))
	require.GreaterOrEqual(t, time.Since(began), 3*d, "two ways and the answer's own")
	l.Delay(0)
	late.Remove()
	began = time.Now()
	write(t, conn, slices.Concat(request(produce, 3, 10), request(metadata, 4, 10)))
	receives(t, conn, response(4, 50<<10))
	require.Less(t, time.Since(began), d)
}

// A client that pipelines hard sees each answer once and in order while rules come and go.
func TestNothingIsLostOrReorderedWhileRulesChange(t *testing.T) {
	const requests = 20_000
	r := New()
	l := open(t, r, serve(t, answers(64)))
	conn := dial(t, l.Address())
	// Many more than any client has in flight, but not so many that the link forgets some.
	inFlight := make(chan struct{}, mostOpen/2)
	stop, changed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(changed)
		for i := 0; ; i++ {
			rule := r.Add(Match{Key: produce, Responses: i%2 == 0}, []Action{Hold(), Delay(time.Millisecond)}[i/2%2])
			select {
			case <-stop:
				rule.Remove()
				return
			case <-time.After(2 * time.Millisecond):
				rule.Remove()
			}
		}
	}()
	go func() {
		for id := range int32(requests) {
			inFlight <- struct{}{}
			if _, err := conn.Write(request(produce, id, int(id)%50)); err != nil {
				return
			}
		}
	}()
	for id := range int32(requests) {
		receives(t, conn, response(id, 64))
		<-inFlight
	}
	close(stop)
	<-changed
	require.EqualValues(t, requests, r.Requests(produce))
	require.EqualValues(t, requests, r.Responses(produce))
}
