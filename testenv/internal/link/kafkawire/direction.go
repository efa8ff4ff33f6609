package kafkawire

import (
	"bytes"
	"time"
)

// direction is the filter of one direction of a connection.
type direction struct {
	conn     *connection
	response bool
	next     func([]byte)
	// queue is nil until the first frame is kept back. From then on all bytes go
	// through it, for those that went past it could overtake what it keeps.
	queue *queue
	// head is an incomplete header.
	head []byte
	// left is how much of the frame is still to come, and swallow that it stops here.
	left    int
	swallow bool
}

// Pass implements link.Filter. What may pass is handed on in pieces as large as they came.
func (d *direction) Pass(data []byte) {
	if len(d.head) > 0 {
		data = append(d.head, data...)
		d.head = nil
	}
	from, at := 0, 0 // data[from:at] is to be handed on
	flush := func() {
		if at > from {
			d.emit(data[from:at])
		}
		from = at
	}
	skip := func(n int) {
		if d.swallow {
			flush()
			from += n
		}
		at += n
	}
	for at < len(data) {
		rest := data[at:]
		switch {
		case d.left > 0:
			n := min(d.left, len(rest))
			d.left -= n
			skip(n)
		case d.conn.foreign.Load():
			d.swallow = false
			skip(len(rest))
		case !plausible(rest, d.response):
			d.conn.foreign.Store(true)
		case len(rest) < headerBytes(d.response):
			flush()
			d.head = bytes.Clone(rest)
			return
		default:
			h := parse(rest, d.response)
			d.left = sizeBytes + h.size
			d.swallow = false
			if rule := d.look(h); rule != nil {
				flush()
				d.act(rule)
			}
			if !d.response && !d.swallow {
				d.conn.asked(h.id, h.key)
			}
		}
	}
	flush()
}

// End implements link.Filter.
func (d *direction) End() {
	if len(d.head) > 0 {
		d.emit(d.head)
		d.head = nil
	}
	if d.queue != nil {
		d.queue.end()
	}
}

// look counts a frame and returns the rule that acts on it, or nil.
func (d *direction) look(h header) *Rule {
	if !d.response {
		return d.conn.rules.decide(h.key, false)
	}
	key, known := d.conn.answered(h.id)
	if !known {
		return nil
	}
	return d.conn.rules.decide(key, true)
}

// act does what the rule says to the frame that begins.
func (d *direction) act(rule *Rule) {
	switch rule.action.kind {
	case hold:
		d.put(item{rule: rule})
		d.done(rule)
	case delay:
		d.put(item{rule: rule, due: time.Now().Add(rule.action.delay)})
		d.done(rule)
	case drop:
		d.swallow = true
		d.done(rule)
	case lose:
		d.swallow = true
		reset := func() {
			d.conn.Reset()
			d.done(rule)
		}
		if d.queue == nil {
			reset()
			return
		}
		d.put(item{do: reset})
	}
}

func (d *direction) done(rule *Rule) {
	d.conn.Touched()
	rule.acted.Add(1)
}

func (d *direction) emit(data []byte) {
	if d.queue == nil {
		d.next(data)
		return
	}
	d.put(item{data: bytes.Clone(data)})
}

func (d *direction) put(i item) {
	if d.queue == nil {
		d.queue = newQueue(d.conn.Done(), d.next)
	}
	d.queue.items <- i
}
