package link

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// session is one client connection and the one to the target that serves it.
type session struct {
	link   *Link
	client *net.TCPConn
	life   context.Context
	end    context.CancelFunc
	up     *pipe
	down   *pipe
	// relayed says that a target which refuses shows as an end without a byte.
	relayed bool

	mu      sync.Mutex
	target  *net.TCPConn
	aborted bool
}

func newSession(l *Link, client *net.TCPConn) *session {
	s := &session{link: l, client: client}
	s.life, s.end = context.WithCancel(l.life)
	s.up = newPipe(s, Up, &l.counts.up)
	s.down = newPipe(s, Down, &l.counts.down)
	return s
}

// serve forwards until both sides have closed or one of them was reset.
func (s *session) serve(target func() (string, error), inspect Inspector) {
	defer s.end()
	upstream, err := s.dial(target)
	if err != nil {
		s.abort(&s.link.counts.refused)
		return
	}
	if !s.attach(upstream) {
		reset(upstream)
		return
	}
	upOut, downOut := s.up.outlet(upstream), s.down.outlet(s.client)
	up, down := Filter(upOut), Filter(downOut)
	if inspect != nil {
		up, down = inspect(s, upOut.Pass, downOut.Pass)
	}
	var both sync.WaitGroup
	both.Go(func() { s.up.run(s.client, upstream, up, upOut) })
	both.Go(func() { s.down.run(upstream, s.client, down, downOut) })
	both.Wait()
	if s.up.lost.Load() || s.down.lost.Load() {
		<-s.life.Done() // an orderly end would hide what was swallowed
	}
	s.finish()
}

func (s *session) dial(target func() (string, error)) (*net.TCPConn, error) {
	address, err := target()
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(s.life, "tcp", address)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

func (s *session) attach(target *net.TCPConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aborted {
		return false
	}
	s.target = target
	return true
}

// abort resets both connections; bytes still held back are dropped. If the session
// was still open it is counted, and counted before a client can see the reset, and true
// is returned.
func (s *session) abort(counts ...*atomic.Int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aborted {
		return false
	}
	s.aborted = true
	for _, count := range counts {
		count.Add(1)
	}
	s.end()
	reset(s.client)
	if s.target != nil {
		reset(s.target)
	}
	s.nudge()
	return true
}

func (s *session) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.target != nil && !s.aborted
}

// finish closes a session whose two directions have come to their ends.
func (s *session) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aborted {
		return
	}
	s.aborted = true
	_ = s.client.Close()
	_ = s.target.Close()
}

// nudge makes both directions look at the link's shape again.
func (s *session) nudge() {
	s.up.nudge()
	s.down.nudge()
}
