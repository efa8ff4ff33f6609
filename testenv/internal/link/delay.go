package link

import (
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// delay runs toxiproxy's latency toxic between in and out and replaces it when the
// shape changes. It returns when in is closed and all it took is in out, which the
// toxic then closes.
//
// Each chunk is handed over only after a look at the shape. Left to the toxic's own
// select between an interrupt and its input, the first chunk after a change would
// now and then pass with the old delay or with none.
func (p *pipe) delay(in <-chan *stream.StreamChunk, out chan<- *stream.StreamChunk) {
	feed := make(chan *stream.StreamChunk)
	stub := toxics.NewToxicStub(feed, out)
	applied := p.now().latency()
	stopped := pass(stub, applied)
	apply := func() {
		next := p.now().latency()
		if next == applied {
			return
		}
		select {
		case stub.Interrupt <- struct{}{}:
			<-stopped
			applied = next
			stopped = pass(stub, next)
		case <-stopped:
		}
	}

	var held *stream.StreamChunk
	for {
		source, sink := in, feed
		if held == nil {
			sink = nil
		} else {
			source = nil
		}
		select {
		case <-p.changedDelay:
			apply()
		case chunk, ok := <-source:
			if !ok {
				in = nil
				close(feed)
				continue
			}
			held = chunk
			apply()
		case sink <- held:
			held = nil
		case <-stopped:
			return
		}
	}
}

// pass runs a toxic until it is interrupted or its input ends; the channel tells
// when it has returned.
func pass(stub *toxics.ToxicStub, l latency) <-chan struct{} {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		l.toxic().Pipe(stub)
	}()
	return stopped
}
