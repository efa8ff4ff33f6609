package kafkawire

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/brokerfault/brokerfault/testenv/internal/link"
)

// patience bounds what is expected to happen at once.
const patience = 10 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	produce  = 0
	metadata = 3
)

// request is a frame whose body repeats the low byte of its ID.
func request(key int16, id int32, body int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(requestBytes-sizeBytes+body))
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = binary.BigEndian.AppendUint16(b, 7)
	b = binary.BigEndian.AppendUint32(b, uint32(id))
	return append(b, bytes.Repeat([]byte{byte(id)}, body)...)
}

func response(id int32, body int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(responseBytes-sizeBytes+body))
	b = binary.BigEndian.AppendUint32(b, uint32(id))
	return append(b, bytes.Repeat([]byte{byte(id)}, body)...)
}

// wire is a connection without a network: what is put into a direction comes out of
// the other end as far as it passes.
type wire struct {
	t        *testing.T
	over     chan struct{}
	once     sync.Once
	touched  atomic.Int64
	up, down link.Filter

	lock     sync.Mutex
	toServer bytes.Buffer
	toClient bytes.Buffer
}

func newWire(t *testing.T, r *Rules) *wire {
	t.Helper()
	w := &wire{t: t, over: make(chan struct{})}
	into := func(b *bytes.Buffer) func([]byte) {
		return func(data []byte) {
			w.lock.Lock()
			defer w.lock.Unlock()
			b.Write(data)
		}
	}
	w.up, w.down = r.Inspect(w, into(&w.toServer), into(&w.toClient))
	t.Cleanup(func() {
		w.Reset()
		w.up.End()
		w.down.End()
	})
	return w
}

func (w *wire) Done() <-chan struct{} { return w.over }
func (w *wire) Reset()                { w.once.Do(func() { close(w.over) }) }
func (w *wire) Touched()              { w.touched.Add(1) }

func (w *wire) isReset() bool {
	select {
	case <-w.over:
		return true
	default:
		return false
	}
}

func (w *wire) received(b *bytes.Buffer) []byte {
	w.lock.Lock()
	defer w.lock.Unlock()
	return bytes.Clone(b.Bytes())
}

func (w *wire) server() []byte { return w.received(&w.toServer) }
func (w *wire) client() []byte { return w.received(&w.toClient) }

// becomes waits for what passes through a queue.
func becomes(t *testing.T, want []byte, got func() []byte) {
	t.Helper()
	require.Eventually(t, func() bool { return bytes.Equal(want, got()) }, patience, time.Millisecond)
}

// inPieces cuts data at random places.
func inPieces(data []byte, most int, pass func([]byte)) {
	for len(data) > 0 {
		n := min(1+rand.IntN(most), len(data))
		piece := bytes.Clone(data[:n])
		pass(piece)
		clear(piece) // it is the caller's again
		data = data[n:]
	}
}

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

// answers answers each request with a body of this size.
func answers(body int) func(*net.TCPConn) {
	return func(conn *net.TCPConn) {
		for {
			size := make([]byte, sizeBytes)
			if _, err := io.ReadFull(conn, size); err != nil {
				return
			}
			rest := make([]byte, binary.BigEndian.Uint32(size))
			if _, err := io.ReadFull(conn, rest); err != nil {
				return
			}
			if _, err := conn.Write(response(int32(binary.BigEndian.Uint32(rest[4:])), body)); err != nil {
				return
			}
		}
	}
}

// open is a link with rules, closed before its target is.
func open(t testing.TB, r *Rules, target string) *link.Link {
	t.Helper()
	l, err := link.Listen(t.Name())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	if r != nil {
		l.Inspect(r.Inspect)
	}
	l.Forward(func() (string, error) { return target, nil })
	return l
}

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	t.Cleanup(func() { conn.Close() })
	return conn
}
