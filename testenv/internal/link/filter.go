package link

// Conn is a client's connection through a link, as its filters see it.
type Conn interface {
	// Done is closed when the connection is over: what a filter holds back then need
	// not be held any longer, and what it hands on is thrown away.
	Done() <-chan struct{}
	// Reset resets both sides, as a fault of the network does.
	Reset()
	// Touched counts a fault's effect for the link's Counts.
	Touched()
}

// Filter sees all bytes of one direction of a connection, in their order and on one
// goroutine.
type Filter interface {
	// Pass takes the next bytes, which are the caller's again when it returns. As long
	// as it does not return, no more are read.
	Pass(data []byte)
	// End says that the source has ended. It returns when all that is to go on has
	// been handed on, or the connection is over.
	End()
}

// Inspector makes the filters of a new connection. They hand on what shall pass to
// next, of which each may be used by one goroutine at a time. The link's delay and
// throttle come after it.
type Inspector func(c Conn, nextUp, nextDown func([]byte)) (up, down Filter)

// Inspect puts filters into the way of connections that are accepted from now on. Nil
// takes them out.
func (l *Link) Inspect(inspect Inspector) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inspect = inspect
}

// Done implements Conn.
func (s *session) Done() <-chan struct{} { return s.life.Done() }

// Reset implements Conn.
func (s *session) Reset() { s.abort(&s.link.counts.reset) }

// Touched implements Conn.
func (s *session) Touched() { s.link.counts.touched.Add(1) }
