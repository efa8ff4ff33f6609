package link

import "sync/atomic"

// Counts is what a link has seen since Listen.
type Counts struct {
	// Accepted is every connection the listener took, refused ones included.
	Accepted int64
	// Refused is how many of them were reset before they reached a target: during a
	// cut or a refusal, without a target, because the dial failed, or because a relay on
	// the way could not reach it.
	Refused int64
	// Reset is how many open connections Cut, Reset, Deliver or a filter has reset.
	Reset int64
	// BytesUp is what was written to the target, BytesDown to clients.
	BytesUp, BytesDown int64
	// SwallowedUp and SwallowedDown are the bytes of each direction that were thrown away.
	SwallowedUp, SwallowedDown int64
	// Touched is how many connections were reset or refused by a fault, plus what filters
	// did, plus how many bytes were swallowed, or shaped by a delay or throttle. Zero means that no fault
	// had any effect.
	Touched int64
}

type counters struct {
	accepted, refused, reset, up, down, touched atomic.Int64
	swallowed                                   [2]atomic.Int64 // by Direction
}

// Counts returns the numbers so far. They are read one by one, so those of a
// connection in flight may not fit each other.
func (l *Link) Counts() Counts {
	return Counts{
		Accepted:      l.counts.accepted.Load(),
		Refused:       l.counts.refused.Load(),
		Reset:         l.counts.reset.Load(),
		BytesUp:       l.counts.up.Load(),
		BytesDown:     l.counts.down.Load(),
		SwallowedUp:   l.counts.swallowed[Up].Load(),
		SwallowedDown: l.counts.swallowed[Down].Load(),
		Touched:       l.counts.touched.Load(),
	}
}
