package link

// Direction is one of the two ways through a link.
type Direction int

// Up leads from clients to the target, Down from it to them.
const (
	Up Direction = iota
	Down
)

// Swallow throws away what is sent in one direction, the ends of streams included, on
// open connections and on new ones, until Deliver. Connections stay open, and the other
// direction is left alone. What a delay already held goes on.
func (l *Link) Swallow(d Direction) { l.swallowing[d].Store(true) }

// Deliver ends a Swallow. Connections that lost something are reset: a stream with a
// hole in it is nothing that a network can bring about.
func (l *Link) Deliver(d Direction) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.swallowing[d].Store(false)
	for s := range l.sessions {
		if s.pipe(d).lost.Load() {
			s.abort(&l.counts.reset)
		}
	}
}

func (s *session) pipe(d Direction) *pipe {
	if d == Up {
		return s.up
	}
	return s.down
}

// swallows says whether n bytes of this direction, or its end, are thrown away.
func (p *pipe) swallows(n int) bool {
	l := p.session.link
	if !l.swallowing[p.direction].Load() {
		return false
	}
	p.lost.Store(true)
	l.counts.swallowed[p.direction].Add(int64(n))
	l.counts.touched.Add(int64(n))
	if !l.swallowing[p.direction].Load() {
		// Deliver may have looked for lost bytes before these were.
		p.session.abort(&l.counts.reset)
	}
	return true
}
