package rocketmqpop

import (
	"context"
	"fmt"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

const orderKept = "nobody gets the message behind the one that is being consumed"

const forgets = "a second consumer gets message 2 while message 1 is being consumed: the proxy asked for the group while no broker was there, " +
	"holds it for unknown for subscriptionGroupConfigCacheRefreshSeconds, and serves an unknown group without order"

var groupForgotten = testenv.Case{
	Name:   "rocketmqpop/group-forgotten",
	Claim:  "an orderly group keeps its order when the proxy has forgotten it in an outage of the broker",
	Client: underTest,
	KnownBad: []testenv.Combination{
		{Broker: "5.5.1", Evidence: forgets, Fails: orderKept, Open: noReport},
		{Broker: "5.5.0", Evidence: forgets, Fails: orderKept, Open: noReport},
	},
}

// The proxy has its own default here, and forgets the group up to 20 s after it last asked.
func TestOrderIsKeptAlthoughProxyForgotGroup(t *testing.T) {
	t.Parallel()
	o := newOutage(t, groupForgotten, map[string]string{"subscriptionGroupConfigCacheRefreshSeconds": "20"})
	o.env.Inject(testenv.Fault{
		Name:        "the proxy forgets the group",
		Apply:       func(context.Context) error { return nil }, // it asks again by itself
		Bites:       func(ctx context.Context) error { return o.first.heartbeatIs(ctx, v2.Code_ILLEGAL_CONSUMER_GROUP) },
		BitesWithin: 40 * time.Second,
	})
	o.end()
}

var groupRemembered = testenv.Case{
	Name:   "rocketmqpop/group-remembered",
	Claim:  "an orderly group keeps its order through an outage of the broker in which the proxy does not forget it",
	Client: underTest,
	Shares: true,
}

func TestOrderIsKeptWhereProxyRemembersGroup(t *testing.T) {
	t.Parallel()
	o := newOutage(t, groupRemembered, nil)
	o.stopped.Heal()
	o.env.Within("the proxy knows the group", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		return o.first.heartbeatIs(ctx, v2.Code_OK)
	}))
	o.end()
}

// outage is one of the broker, with consumers of an orderly group that know to wait.
type outage struct {
	*scene
	first, second, third *popper
	stopped              *testenv.Injected
}

// newOutage stops the broker after order was seen to be kept.
func newOutage(t *testing.T, k testenv.Case, proxy map[string]string) *outage {
	t.Helper()
	env := testenv.New(t, k)
	o := &outage{scene: newScene(t, env, setting{proxy: proxy})}
	for _, p := range []**popper{&o.first, &o.second, &o.third} {
		*p = newPopper(t, o.scene, o.broker.Endpoint())
	}
	o.sends(o.first, 0, 1, 2, 3)
	var consumed []*v2.Message
	env.Within("a message is being consumed", 10*time.Second, o.takes(o.first, &consumed, 0))
	env.Within(orderKept+", before the fault", 5*time.Second, testenv.AtOnce(o.second.waits))
	require.NoError(t, o.first.ack(env.Context(), consumed...))
	// Stopped, and not killed: what was acknowledged stays acknowledged.
	o.stopped = env.Inject(o.broker.Server().Stop())
	return o
}

// end has the broker back, and wants order.
func (o *outage) end() {
	o.stopped.Heal()
	var consumed []*v2.Message
	o.env.Within("a message is being consumed again", 15*time.Second, o.takes(o.first, &consumed, 1))
	o.env.Witness("another client of the group is kept to the order", testenv.AtOnce(o.third.waits))
	o.env.Recovers(orderKept, 10*time.Second, testenv.AtOnce(o.second.waits))
	o.env.Within("the message is acknowledged", 5*time.Second, testenv.AtOnce(func(ctx context.Context) error { return o.first.ack(ctx, consumed...) }))
	o.env.Within("the next one comes", 10*time.Second, o.second.finds(popping{batch: 1}, 2))
}

// takes is the probe "a pop of one message finds this one", which leaves it in its consumer's hands.
func (o *outage) takes(p *popper, into *[]*v2.Message, want int) testenv.Probe {
	return func(ctx context.Context) (err error) {
		if *into, err = p.pop(ctx, popping{batch: 1}); err != nil {
			return err
		}
		return same([]int{want}, numbers(*into))
	}
}

// waits is the probe "a pop of one message sits out its poll".
func (p *popper) waits(ctx context.Context) error { return p.popsNothing(ctx, popping{batch: 1}) }

// heartbeatIs wants this answer to a heartbeat of the group.
func (p *popper) heartbeatIs(ctx context.Context, want v2.Code) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	s, err := p.heartbeat(ctx)
	if err != nil {
		return err
	}
	if s.GetCode() != want {
		return fmt.Errorf("a heartbeat is answered with %s: %s", s.GetCode(), s.GetMessage())
	}
	return nil
}
