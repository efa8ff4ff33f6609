package link

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

const (
	chunkSize = 32 << 10
	// heldChunks bounds what a delay holds back for a connection and direction: at
	// most 32 MiB, after which the sender feels the back pressure. As in toxiproxy.
	heldChunks = 1024
)

// pipe is one direction of a session. It copies straight through until the link is
// first given a shape; from then on this connection's bytes go through a chain,
// because bytes that went past it could overtake those it holds.
type pipe struct {
	session   *session
	direction Direction
	passed    *atomic.Int64
	// lost says that a part of the stream was swallowed, ended that its source has.
	lost, ended atomic.Bool
	// changed* have room for one message, so telling the pipe never blocks, and what
	// was told after the pipe last looked is never missed.
	changedDelay chan struct{}
	changedRate  chan struct{}
	// free is when the throttle will have sent all it took so far.
	free time.Time
}

func newPipe(s *session, d Direction, passed *atomic.Int64) *pipe {
	return &pipe{
		session:      s,
		direction:    d,
		passed:       passed,
		changedDelay: make(chan struct{}, 1),
		changedRate:  make(chan struct{}, 1),
	}
}

func (p *pipe) nudge() {
	for _, changed := range []chan struct{}{p.changedDelay, p.changedRate} {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
}

// run copies until the source ends, by way of first. An orderly end is passed on when
// all bytes have arrived, anything else resets both sides.
func (p *pipe) run(source, destination *net.TCPConn, first Filter, last *outlet) {
	buffer := make([]byte, chunkSize)
	silent := true
	for {
		n, err := source.Read(buffer)
		if n > 0 {
			silent = false
			first.Pass(buffer[:n])
		}
		if err == nil {
			continue
		}
		if silent && p.refused() {
			p.session.abort(&p.session.link.counts.refused)
		}
		p.ended.Store(true)
		unheard := p.swallows(0)
		if !unheard && !errors.Is(err, io.EOF) {
			p.session.abort()
		}
		first.End()
		last.End()
		if unheard {
			return // the other side hears nothing of the end, whichever it is
		}
		if err := destination.CloseWrite(); err != nil {
			p.session.abort()
		}
		return
	}
}

// refused says whether an end without a byte is the refusal of a target behind a relay: the
// client has asked for no end.
func (p *pipe) refused() bool {
	s := p.session
	return s.relayed && p.direction == Down && !s.up.ended.Load()
}

// outlet is where a pipe's bytes leave it: straight to the destination until the link
// is first given a shape. Without an inspector it is the pipe's filter as well.
type outlet struct {
	pipe   *pipe
	send   func([]byte)
	finish func() // nil until the link had a shape
}

func (p *pipe) outlet(destination *net.TCPConn) *outlet {
	return &outlet{pipe: p, send: p.writer(destination)}
}

func (o *outlet) Pass(data []byte) {
	if o.pipe.swallows(len(data)) {
		return
	}
	link := o.pipe.session.link
	if link.shape.Load().active() {
		link.counts.touched.Add(int64(len(data)))
		if o.finish == nil {
			o.send, o.finish = o.pipe.startChain(o.send)
		}
	}
	o.send(data)
}

// End returns once all bytes have left. It may be called again.
func (o *outlet) End() {
	if o.finish != nil {
		o.finish()
		o.finish = func() {}
	}
}

// writer returns a function that writes to the destination. After a failure it
// discards: the session is over, and who feeds it must get to its end.
func (p *pipe) writer(destination *net.TCPConn) func([]byte) {
	return func(data []byte) {
		if p.session.life.Err() != nil {
			return
		}
		// Counted first, so that who has received bytes finds them counted.
		p.passed.Add(int64(len(data)))
		if n, err := destination.Write(data); err != nil {
			p.passed.Add(int64(n - len(data)))
			p.session.abort()
		}
	}
}

// startChain puts the delay and the throttle before write. The returned functions
// feed the chain, and close it and wait until it is empty.
func (p *pipe) startChain(write func([]byte)) (send func([]byte), finish func()) {
	in := make(chan *stream.StreamChunk, heldChunks)
	out := make(chan *stream.StreamChunk)
	var stages sync.WaitGroup
	stages.Go(func() { p.delay(in, out) })
	stages.Go(func() {
		for chunk := range out {
			p.throttle(chunk.Data, write)
		}
	})
	send = func(data []byte) {
		in <- &stream.StreamChunk{Data: bytes.Clone(data), Timestamp: time.Now()}
	}
	finish = func() {
		close(in)
		stages.Wait()
	}
	return send, finish
}

// now is the shape to apply. A session that is over has none, so that what it
// holds back does not delay its end.
func (p *pipe) now() shape {
	if p.session.life.Err() != nil {
		return shape{}
	}
	return *p.session.link.shape.Load()
}
