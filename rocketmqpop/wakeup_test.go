package rocketmqpop

import (
	"context"
	"fmt"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/brokerfault/brokerfault/testenv"
)

var wakesFIFO = testenv.Case{
	Name:   "rocketmqpop/wake-up-fifo",
	Claim:  "a message of an orderly group that becomes visible again wakes a waiting poll",
	Issue:  "https://github.com/apache/rocketmq/issues/9828",
	Client: underTest,
	Shares: true,
}

func TestVisibleMessageWakesPollOfOrderlyGroup(t *testing.T) {
	t.Parallel()
	wakes(t, wakesFIFO, setting{})
}

var wakesNormal = testenv.Case{
	Name:   "rocketmqpop/wake-up",
	Claim:  "a message of a group without order that becomes visible again wakes a waiting poll",
	Issue:  "https://github.com/apache/rocketmq/issues/9828",
	Client: underTest,
	Shares: true,
}

func TestVisibleMessageWakesPollOfGroupWithoutOrder(t *testing.T) {
	t.Parallel()
	wakes(t, wakesNormal, setting{normal: true})
}

var wakesWithoutKV = testenv.Case{
	Name:   "rocketmqpop/wake-up-without-popkv",
	Claim:  "a message of a group without order that becomes visible again wakes a waiting poll, also without PopKv",
	Issue:  "https://github.com/apache/rocketmq/issues/9632",
	Client: underTest,
	Shares: true,
}

func TestVisibleMessageWakesPollOfGroupWithoutOrderWithoutPopKV(t *testing.T) {
	t.Parallel()
	wakes(t, wakesWithoutKV, setting{normal: true, withoutKV: true})
}

const (
	wakePoll      = 18 * time.Second
	wakeInvisible = 3 * time.Second
	// wakeSlack has room for the intervals at which the broker looks for messages
	// that are to become visible, a second each.
	wakeSlack = 5 * time.Second
	wokenUp   = "a waiting poll gets the message when its invisible time is over"
)

func wakes(t *testing.T, k testenv.Case, o setting) {
	t.Helper()
	env := testenv.New(t, k)
	o.proxy = patientAndEager
	s := newScene(t, env, o)
	p := newPopper(t, s, s.broker.Endpoint())

	s.sends(p, 0)
	env.Inject(s.leave(p, popping{invisible: wakeInvisible}, 0))
	env.Recovers(wokenUp, wakePoll+5*time.Second, s.woken(p, 0, nil))

	s.sends(p, 1)
	var left []*v2.Message
	refused := s.leave(p, popping{}, 1)
	refused.Apply = func(ctx context.Context) (err error) {
		if left, err = p.pop(ctx, popping{}); err != nil {
			return err
		}
		return same([]int{1}, numbers(left))
	}
	env.Inject(refused)
	env.Recovers("a waiting poll gets the message when its invisible time was cut short", wakePoll+5*time.Second,
		s.woken(p, 1, func(ctx context.Context) error { return p.changeInvisible(ctx, left[0], wakeInvisible) }))
	env.Within("nothing is left", 5*time.Second, testenv.AtOnce(p.findsNothing))
}

// woken is the probe of a poll that begins before the message is visible, and
// gets it soon after. meanwhile, which may be nil, is done while the poll waits.
func (s *scene) woken(p *popper, number int, meanwhile testenv.Probe) testenv.Probe {
	return testenv.AtOnce(func(ctx context.Context) error {
		type answer struct {
			got []*v2.Message
			err error
		}
		began, polled := time.Now(), make(chan answer, 1)
		go func() {
			got, err := p.pop(ctx, popping{wait: wakePoll})
			polled <- answer{got, err}
		}()
		if meanwhile != nil {
			pause(ctx, 500*time.Millisecond) // so that the poll is there
			if err := meanwhile(ctx); err != nil {
				return err
			}
		}
		a := <-polled
		took := time.Since(began).Round(time.Millisecond)
		if a.err != nil {
			return a.err
		}
		s.env.Note("the poll took %v", took)
		if err := same([]int{number}, numbers(a.got)); err != nil {
			return fmt.Errorf("after %v: %w", took, err)
		}
		if took > wakeInvisible+wakeSlack {
			return fmt.Errorf("it came after %v of a poll of %v, although it was visible after %v", took, wakePoll, wakeInvisible)
		}
		return p.ack(ctx, a.got...)
	})
}
