package pulsarquota

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokerfault/brokerfault/testenv"
)

// outcomes records what became of numbered sends.
type outcomes struct {
	mu       sync.Mutex
	next     uint64
	answers  map[uint64][]error // of each number, every answer that came
	acked    []uint64           // in the order of the answers
	failures int
}

func newOutcomes() *outcomes { return &outcomes{answers: map[uint64][]error{}} }

// sendAsync sends the next number in a message of the incident's size.
func (o *outcomes) sendAsync(ctx context.Context, p pulsar.Producer) {
	o.mu.Lock()
	n := o.next
	o.next++
	o.answers[n] = nil
	o.mu.Unlock()
	payload := make([]byte, messageSize)
	binary.BigEndian.PutUint64(payload, n)
	p.SendAsync(ctx, &pulsar.ProducerMessage{Payload: payload}, func(_ pulsar.MessageID, _ *pulsar.ProducerMessage, err error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.answers[n] = append(o.answers[n], err)
		if err == nil {
			o.acked = append(o.acked, n)
		} else {
			o.failures++
		}
	})
}

func (o *outcomes) failed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failures
}

func (o *outcomes) acknowledged() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.acked)
}

// sent counts all numbered sends.
func (o *outcomes) sent() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.next
}

// pending counts sends without an answer.
func (o *outcomes) pending() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, all := range o.answers {
		if len(all) == 0 {
			n++
		}
	}
	return n
}

// settled is the probe "every send has an answer".
func (o *outcomes) settled(context.Context) error {
	if n := o.pending(); n > 0 {
		return fmt.Errorf("%d sends have no answer", n)
	}
	return nil
}

// sendsAgain is the probe "a numbered send succeeds".
func (o *outcomes) sendsAgain(p pulsar.Producer) testenv.Probe {
	return func(ctx context.Context) error {
		before := o.failed()
		o.sendAsync(ctx, p)
		for o.pending() > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(5 * time.Millisecond):
			}
		}
		if o.failed() > before {
			return errors.New("the send was refused")
		}
		return nil
	}
}

// check is the probe "each send has exactly one answer, and a failed one is of the wanted kind".
func (o *outcomes) check(kind func(error) bool) testenv.Probe {
	return func(context.Context) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		for n, all := range o.answers {
			if len(all) != 1 {
				return fmt.Errorf("send %d has %d answers: %v", n, len(all), all)
			}
			if all[0] != nil && !kind(all[0]) {
				return fmt.Errorf("send %d failed with another error: %w", n, all[0])
			}
		}
		return nil
	}
}

// readBack compares what was acknowledged with what the topic holds, from its beginning:
// each number once, in the order of its sending. Failed sends may be there as well.
func (o *outcomes) readBack(ctx context.Context, client pulsar.Client, topic string) error {
	reader, err := client.CreateReader(pulsar.ReaderOptions{Topic: topic, StartMessageID: pulsar.EarliestMessageID()})
	if err != nil {
		return fmt.Errorf("make a reader: %w", err)
	}
	defer reader.Close()
	o.mu.Lock()
	wanted := make(map[uint64]bool, len(o.acked))
	for _, n := range o.acked {
		wanted[n] = true
	}
	o.mu.Unlock()
	seen := map[uint64]bool{}
	last, first := uint64(0), true
	for reader.HasNext() {
		m, err := reader.Next(ctx)
		if err != nil {
			return fmt.Errorf("read back after %d messages: %w", len(seen), err)
		}
		n := binary.BigEndian.Uint64(m.Payload())
		if !wanted[n] {
			continue
		}
		if seen[n] {
			return fmt.Errorf("message %d is there twice", n)
		}
		if !first && n < last {
			return fmt.Errorf("message %d comes after %d", n, last)
		}
		seen[n], last, first = true, n, false
	}
	if len(seen) != len(wanted) {
		return fmt.Errorf("%d messages were acknowledged, %d of them are there", len(wanted), len(seen))
	}
	return nil
}
