package rocketmqpop

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

var wakesFIFO = testenv.Case{
	Name:   "rocketmqpop/wake-up-fifo",
	Claim:  "a message of an orderly group that becomes visible again wakes a waiting poll",
	Issue:  "https://github.com/apache/rocketmq/issues/9632",
	Client: underTest,
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
}

func TestVisibleMessageWakesPollOfGroupWithoutOrder(t *testing.T) {
	t.Parallel()
	wakes(t, wakesNormal, setting{normal: true})
}

const (
	wakePoll      = 18 * time.Second
	wakeInvisible = 3 * time.Second
	// wakeSlack has room for the intervals at which the broker looks for messages
	// that are to become visible, a second each.
	wakeSlack = 5 * time.Second
)

func wakes(t *testing.T, k testenv.Case, o setting) {
	t.Helper()
	env := testenv.New(t, k)
	o.proxy = map[string]string{"grpcClientConsumerMaxLongPollingTimeoutMillis": "20000"}
	s := newScene(t, env, o)
	p := newPopper(t, s, s.broker.Endpoint())
	s.sends(p, 0)
	env.Inject(s.leave(p, popping{invisible: wakeInvisible}, 0))
	env.Recovers("a waiting poll gets it when it is visible", wakePoll+5*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		began := time.Now()
		got, err := p.pop(ctx, popping{wait: wakePoll})
		took := time.Since(began)
		if err != nil {
			return err
		}
		env.Evidence("poll_ms", int(took.Milliseconds()))
		if err := same([]int{0}, numbers(got)); err != nil {
			return fmt.Errorf("after %v: %w", took.Round(time.Millisecond), err)
		}
		if took > wakeInvisible+wakeSlack {
			return fmt.Errorf("it came after %v of a poll of %v, although it was visible after %v at the latest",
				took.Round(time.Millisecond), wakePoll, wakeInvisible)
		}
		return p.ack(ctx, got...)
	}))
	env.Within("nothing is left", 5*time.Second, testenv.AtOnce(p.findsNothing))
}
