package kafkawire

import (
	"sync"
	"sync/atomic"

	"github.com/brokerfault/brokerfault/testenv/internal/link"
)

// mostOpen bounds the requests of a connection whose answers are awaited: those with
// acks=0 are never answered, and nothing but their body tells them.
const mostOpen = 1 << 14

// connection is what the two directions of a connection share.
type connection struct {
	link.Conn
	rules *Rules
	// foreign is set by the direction that saw what is not Kafka's.
	foreign atomic.Bool

	lock sync.Mutex
	open map[int32]int16 // correlation ID to key
	// order has the IDs of open as they came, and ones that were answered since.
	order []int32
}

// asked books a request, before its bytes are handed on.
func (c *connection) asked(id int32, key int16) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for len(c.order) > 0 {
		first := c.order[0]
		if _, awaited := c.open[first]; awaited && len(c.order) < mostOpen {
			break
		}
		delete(c.open, first)
		c.order = c.order[1:]
	}
	c.open[id] = key
	c.order = append(c.order, id)
}

// answered returns the key of the request with this ID.
func (c *connection) answered(id int32) (key int16, known bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	key, known = c.open[id]
	delete(c.open, id)
	return key, known
}
