package link

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// shape is what happens to bytes on their way. It is replaced, never changed.
type shape struct {
	delay time.Duration
	rate  int64 // bytes per second; zero is unlimited
}

func (s shape) active() bool { return s != shape{} }

func (s shape) latency() latency { return latency(milliseconds(s.delay)) }

// latency is the shape's delay in toxiproxy's unit.
type latency int64

func (l latency) toxic() toxics.Toxic {
	if l == 0 {
		return new(toxics.NoopToxic)
	}
	return &toxics.LatencyToxic{Latency: int64(l)}
}

// milliseconds rounds up, so that a short delay is not lost.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// Delay holds back what is sent in either direction by d, on open connections too;
// order is kept, and the end of a stream is held back with its bytes. Opening a
// connection is not delayed. d is rounded up to milliseconds; zero or less lifts the
// delay. A change sends at once what is next in line (at most 32 KiB a connection and
// direction).
func (l *Link) Delay(d time.Duration) {
	l.reshape(func(s *shape) { s.delay = max(d, 0) })
}

// Throttle limits each direction of each connection, open ones too, to
// bytesPerSecond. Zero or less lifts the limit.
func (l *Link) Throttle(bytesPerSecond int64) {
	l.reshape(func(s *shape) { s.rate = max(bytesPerSecond, 0) })
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
