package link

// Refuse resets each new connection as soon as it is accepted, until Admit. Open ones go
// on. As with a Cut the listener stays open, so nobody else can take the port.
func (l *Link) Refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusing = true
}

// Admit ends a Refuse.
func (l *Link) Admit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusing = false
}

// Reset resets the connections that are open now and returns how many there were. Those
// of which one side has ended already are reset, but not counted.
func (l *Link) Reset() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for s := range l.sessions {
		open := !s.up.ended.Load() && !s.down.ended.Load()
		if s.abort(&l.counts.reset, &l.counts.touched) && open {
			n++
		}
	}
	return n
}

// Carries says whether the connection that a client has at this address of its own is
// open through the link and has reached the target.
func (l *Link) Carries(client string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.sessions {
		if s.client.RemoteAddr().String() == client {
			return s.connected()
		}
	}
	return false
}
