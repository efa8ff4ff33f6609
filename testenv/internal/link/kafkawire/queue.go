package kafkawire

import (
	"time"
)

// mostItems bounds what a direction keeps back: at most 32 MiB of the link's pieces,
// after which the sender feels the back pressure.
const mostItems = 1024

// queue hands on in order, and waits where it is told to.
type queue struct {
	items chan item
	over  <-chan struct{}
	next  func([]byte)
	ended chan struct{}
}

// item is one of: bytes, a wait for a rule, something to do.
type item struct {
	data []byte
	do   func()
	rule *Rule
	// due ends the wait for the rule; zero is never.
	due time.Time
}

// newQueue starts a queue that waits for nothing once the connection is over.
func newQueue(over <-chan struct{}, next func([]byte)) *queue {
	q := &queue{items: make(chan item, mostItems), over: over, next: next, ended: make(chan struct{})}
	go q.run()
	return q
}

func (q *queue) run() {
	defer close(q.ended)
	for i := range q.items {
		switch {
		case i.rule != nil:
			q.wait(i)
		case i.do != nil:
			i.do()
		default:
			q.next(i.data)
		}
	}
}

func (q *queue) wait(i item) {
	var due <-chan time.Time
	if !i.due.IsZero() {
		timer := time.NewTimer(time.Until(i.due))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-i.rule.removed:
	case <-q.over:
	}
}

// end returns when everything was handed on.
func (q *queue) end() {
	close(q.items)
	<-q.ended
}
