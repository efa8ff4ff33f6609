// Package link is the stable address in front of a client-facing port.
//
// A broker advertises its link's address, which is opened first and stays the
// same through restarts, kills and pauses of the broker, so that a cut, a delay or
// a throttle really lies on the client's path. The link mirrors what the two sides
// do: bytes, half-closes and resets. Filters may look at what passes and hold it back,
// each in its direction of a connection.
//
// The delay is toxiproxy's latency toxic on a pipe of our own. Toxiproxy's own
// link is not used: it leaks its goroutines when a write fails, its toxics cannot
// be changed while a receiver does not read (a stopped broker), and its bandwidth
// toxic drops bytes when it is changed during a stall of 5s.
package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// dialTimeout bounds the dial of a target that neither takes nor refuses.
	dialTimeout = 10 * time.Second
	// acceptPause keeps a listener that is out of file descriptors from spinning.
	acceptPause = 10 * time.Millisecond
)

var errNoTarget = errors.New("link has no target yet")

// Link forwards connections from its address to a target.
type Link struct {
	name     string
	listener *net.TCPListener
	counts   counters
	shape    atomic.Pointer[shape]
	// swallowing is by Direction.
	swallowing [2]atomic.Bool

	life   context.Context
	end    context.CancelFunc
	worker sync.WaitGroup

	closing    sync.Once
	closeError error

	mu       sync.Mutex
	target   func() (string, error)
	inspect  Inspector
	cut      bool
	refusing bool
	closed   bool
	relayed  bool
	sessions map[*session]struct{}
}

// Listen opens the address on 127.0.0.1. Connections are reset until Forward is
// called. The name appears in errors only.
func Listen(name string) (*Link, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("listen for link %q: %w", name, err)
	}
	life, end := context.WithCancel(context.Background())
	l := &Link{
		name:     name,
		listener: listener,
		life:     life,
		end:      end,
		target:   func() (string, error) { return "", errNoTarget },
		sessions: map[*session]struct{}{},
	}
	l.shape.Store(&shape{})
	l.worker.Go(l.accept)
	return l, nil
}

// Address is the link's host:port. It never changes.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Forward sets where new connections go. The target is asked for each of them,
// since a broker's real port may change with a restart; it must not block, as
// Close waits for it. An error resets the connection.
func (l *Link) Forward(target func() (string, error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target = target
}

// Relayed says that somebody on the way to the target takes its connections, also those
// that the target then refuses. Such a one ends before a byte has come down, and is reset,
// as it is without a relay. The price: an end that the target itself makes without a word
// is passed on as a reset too. It holds for the connections to come.
func (l *Link) Relayed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.relayed = true
}

// Cut resets all open connections, and each new one as soon as it is accepted,
// until Restore. The listener stays open, so nobody else can take the port.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return
	}
	l.cut = true
	for s := range l.sessions {
		s.abort(&l.counts.reset, &l.counts.touched)
	}
}

// Restore ends a Cut. Connections that were reset stay so.
func (l *Link) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// Close resets all connections, closes the address and waits for the link's
// goroutines. Further calls return the first one's error.
func (l *Link) Close() error {
	l.closing.Do(func() {
		l.mu.Lock()
		l.closed = true
		for s := range l.sessions {
			s.abort()
		}
		l.mu.Unlock()
		l.end()
		if err := l.listener.Close(); err != nil {
			l.closeError = fmt.Errorf("close link %q: %w", l.name, err)
		}
		l.worker.Wait()
	})
	return l.closeError
}

func (l *Link) accept() {
	for {
		client, err := l.listener.AcceptTCP()
		if err == nil {
			l.counts.accepted.Add(1)
			l.mu.Lock()
			target, inspect := l.target, l.inspect
			l.mu.Unlock()
			l.admit(client, target, inspect)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		select {
		case <-time.After(acceptPause):
		case <-l.life.Done():
			return
		}
	}
}

// admit books a connection before its target is dialled, so that a Cut during the
// dial reaches it. One that is refused has no session.
func (l *Link) admit(client *net.TCPConn, target func() (string, error), inspect Inspector) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut || l.refusing || l.closed {
		if l.cut || l.refusing {
			l.counts.touched.Add(1)
		}
		l.counts.refused.Add(1)
		reset(client)
		return nil
	}
	s := newSession(l, client)
	s.relayed = l.relayed
	l.sessions[s] = struct{}{}
	l.worker.Go(func() {
		defer l.forget(s)
		s.serve(target, inspect)
	})
	return s
}

func (l *Link) forget(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sessions, s)
}

// reset closes a connection so that its peer sees ECONNRESET rather than EOF.
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}
