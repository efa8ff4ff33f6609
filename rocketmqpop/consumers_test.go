package rocketmqpop

import (
	"context"
	"fmt"
	"testing"
	"time"

	rmq "github.com/apache/rocketmq-clients/golang/v5"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

// before are the messages that every group has acknowledged before the fault.
var before = []int{0, 1, 2}

// consumers are consumers of the same topic, each of a group of its own.
type consumers struct {
	*scene
	all []consumer
}

// consumer is a consumer at work.
type consumer struct {
	name, group string
	got         *deliveries
}

// Kinds of consumers.
const (
	pushConsumer   = "the push consumer"
	simpleConsumer = "the simple consumer"
)

// newConsumers starts consumers of these kinds, which consume and acknowledge
// what is sent before the fault.
func newConsumers(t *testing.T, k testenv.Case, kinds ...string) *consumers {
	t.Helper()
	env := testenv.New(t, k)
	c := &consumers{scene: newScene(t, env, setting{})}
	c.keepLog()
	for i, kind := range kinds {
		one := consumer{name: kind, group: fmt.Sprintf("%s-%d", c.group, i), got: &deliveries{}}
		require.NoError(t, c.broker.CreateGroup(env.Context(), testenv.RocketMQGroup{Name: one.group, Orderly: true}))
		if kind == pushConsumer {
			c.push(t, c.broker.Endpoint(), one.group, one.got.listener(taken))
		} else {
			simple := c.simple(t, c.broker.Endpoint(), one.group)
			env.Go(func(ctx context.Context) { poll(ctx, simple, one.got) })
		}
		c.all = append(c.all, one)
	}
	c.sends(newPopper(t, c.scene, c.broker.Endpoint()), before...)
	for _, one := range c.all {
		env.Within(one.name+" consumes before the fault", 15*time.Second, one.got.upTo(len(before)))
		env.Within(one.name+" has acknowledged", 10*time.Second, c.consumedBy(one.group))
	}
	return c
}

// poll receives and acknowledges until the test ends, as a program's main loop would.
func poll(ctx context.Context, consumer rmq.SimpleConsumer, got *deliveries) {
	for ctx.Err() == nil {
		messages, err := consumer.Receive(ctx, 16, 10*time.Second)
		if err != nil {
			pause(ctx, 50*time.Millisecond)
			continue // an empty poll is an error, too
		}
		for _, m := range messages {
			got.add(m)
			_ = consumer.Ack(ctx, m) // one that fails brings the message again
		}
	}
}

// pause keeps a loop from spinning where every call fails at once.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (s *scene) sends(p *popper, numbers ...int) {
	s.env.Within("messages are sent", 15*time.Second, testenv.AtOnce(func(ctx context.Context) error { return p.send(ctx, numbers...) }))
}

// goesOn is the claim of a consumer: "the push consumer has what was sent after the fault".
func goesOn(kind string) string { return kind + " has what was sent after the fault" }

// goOn sends more through the healed broker, and wants each consumer to have it,
// in order, and none of the first messages, which are acknowledged for good, again.
func (c *consumers) goOn(budget time.Duration, acknowledged int) {
	var sender *popper
	c.env.Within("a fresh client is taken", 20*time.Second, func(ctx context.Context) (err error) {
		sender, err = dialPopper(ctx, c.scene, c.broker.Endpoint())
		return err
	})
	c.env.Closes("the fresh client", sender.close)
	// The proxy holds what it found while the broker was away until it asks again.
	c.env.Within("the proxy knows a route again", 20*time.Second, sender.findsRoute)
	c.sends(sender, 3, 4, 5)
	for _, one := range c.all {
		c.env.Witness("a fresh client of its group finds it", c.freshFinds(one.group))
		c.env.Recovers(goesOn(one.name), budget, one.got.upTo(6))
		c.env.Within("all is acknowledged", 15*time.Second, c.consumedBy(one.group))
		c.env.Within("all came in order", time.Second, testenv.AtOnce(one.got.inOrder(acknowledged)))
	}
}

// freshFinds is the witness of a group whose consumer does not get anything.
func (c *consumers) freshFinds(group string) testenv.Probe {
	return func(ctx context.Context) error {
		other := *c.scene
		other.group = group
		p, err := dialPopper(ctx, &other, c.broker.Endpoint())
		if err != nil {
			return err
		}
		defer p.close()
		got, err := p.pop(ctx, popping{invisible: shortPoll})
		if err != nil {
			return err
		}
		if len(got) == 0 {
			return fmt.Errorf("a fresh client of %q finds nothing", group)
		}
		return nil
	}
}
