package link

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// shape is what happens to bytes on their way. It is replaced, never changed.
type shape struct {
	delay  time.Duration
	jitter time.Duration
	rate   int64 // bytes per second; zero is unlimited
}

func (s shape) active() bool { return s != shape{} }

func (s shape) latency() latency {
	return latency{delay: milliseconds(s.delay), jitter: milliseconds(s.jitter)}
}

// latency is the shape's delay in toxiproxy's unit.
type latency struct{ delay, jitter int64 }

func (l latency) toxic() toxics.Toxic {
	if l == (latency{}) {
		return new(toxics.NoopToxic)
	}
	return &toxics.LatencyToxic{Latency: l.delay, Jitter: l.jitter}
}

// milliseconds rounds up, so that a short delay is not lost.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// Delay holds back what is sent in either direction by d, plus or minus up to
// jitter, on open connections too; order is kept, and the end of a stream is held
// back with its bytes. Opening a connection is not delayed. Both are rounded up to
// milliseconds; zero for both lifts the delay. A change sends at once what is next in
// line (at most 32 KiB a connection and direction).
func (l *Link) Delay(d, jitter time.Duration) {
	l.reshape(func(s *shape) { s.delay, s.jitter = max(d, 0), max(jitter, 0) })
}

// Throttle limits each direction of each connection, open ones too, to
// bytesPerSecond. Zero or less lifts the limit.
func (l *Link) Throttle(bytesPerSecond int64) {
	l.reshape(func(s *shape) { s.rate = max(bytesPerSecond, 0) })
}

// Clear lifts Delay and Throttle; what was held back is sent at once. A Cut stays.
func (l *Link) Clear() {
	l.reshape(func(s *shape) { *s = shape{} })
}

// reshape never blocks, whatever the connections do: they are only told that there
// is something new.
func (l *Link) reshape(change func(*shape)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *l.shape.Load()
	change(&next)
	l.shape.Store(&next)
	for s := range l.sessions {
		s.nudge()
	}
}
