package rocketmqpop

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	rmq "github.com/apache/rocketmq-clients/golang/v5"

	"github.com/brokerfault/brokerfault/testenv"
)

// deliveries are the numbers that a consumer was given, in the order in which it was.
type deliveries struct {
	mu  sync.Mutex
	got []int
}

// listener takes the messages that takes says, of their number and of how often
// they were delivered by now.
func (d *deliveries) listener(takes func(number, times int) bool) func(*rmq.MessageView) rmq.ConsumerResult {
	return func(m *rmq.MessageView) rmq.ConsumerResult {
		if takes(d.add(m)) {
			return rmq.SUCCESS
		}
		return rmq.FAILURE
	}
}

// add returns the message's number, and how often it was delivered by now.
func (d *deliveries) add(m *rmq.MessageView) (number, times int) {
	n, err := strconv.Atoi(string(m.GetBody()))
	if err != nil {
		n = -1
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.got = append(d.got, n)
	for _, other := range d.got {
		if other == n {
			times++
		}
	}
	return n, times
}

func (d *deliveries) all() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]int(nil), d.got...)
}

// upTo is the probe "every message below end was delivered".
func (d *deliveries) upTo(end int) testenv.Probe {
	return func(context.Context) error {
		seen := map[int]bool{}
		for _, n := range d.all() {
			seen[n] = true
		}
		for n := range end {
			if !seen[n] {
				return fmt.Errorf("message %d was not delivered; those that were: %v", n, d.all())
			}
		}
		return nil
	}
}

// inOrder is the probe "each message came after the one before it, and only those
// from acknowledged on more than once".
func (d *deliveries) inOrder(acknowledged int) testenv.Probe {
	return func(context.Context) error {
		next := 0
		for _, n := range d.all() {
			switch {
			case n == next:
				next++
			case n > next || n < 0:
				return fmt.Errorf("message %d came before %d: %v", n, next, d.all())
			case n < acknowledged:
				return fmt.Errorf("message %d came again although it had been acknowledged: %v", n, d.all())
			}
		}
		return nil
	}
}

// times is the probe "message n was delivered this often".
func (d *deliveries) times(n, want int) testenv.Probe {
	return func(context.Context) error {
		times := 0
		for _, other := range d.all() {
			if other == n {
				times++
			}
		}
		if times != want {
			return fmt.Errorf("message %d was delivered %d times, not %d: %v", n, times, want, d.all())
		}
		return nil
	}
}
