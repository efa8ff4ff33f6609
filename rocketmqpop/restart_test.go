package rocketmqpop

import (
	"context"
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

// goOnBudget has room for a client's own pauses, of up to some seconds, between
// two tries, for the ten seconds in which proxy and broker find each other, and for
// the ten that a killed broker's lock may hold.
const goOnBudget = 30 * time.Second

// proxyBudget: a client that is told at once that the proxy does not know it has
// no reason to wait.
const proxyBudget = 15 * time.Second

const settingsReport = "https://github.com/apache/rocketmq-clients/issues/1137"

const toldLate = "back after 4 min 18 s (v5.1.4; not in 15 s with v5.1.3): until then the new proxy refuses its receives and heartbeats with UNRECOGNIZED_CLIENT_TYPE, " +
	"for the client tells its settings again every five minutes only; a fresh client finds the messages at once"

var proxyRestartPush = testenv.Case{
	Name:   "rocketmqpop/proxy-restart-push",
	Claim:  "a push consumer goes on after the proxy was restarted, in order and with nothing acknowledged coming again",
	Issue:  settingsReport,
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Client: "v5.1.3", Evidence: toldLate, Fails: goesOn(pushConsumer), Open: settingsReport},
		{Client: "v5.1.4", Evidence: toldLate, Fails: goesOn(pushConsumer), Open: settingsReport},
	},
}

func TestPushConsumerGoesOnAfterProxyRestart(t *testing.T) {
	t.Parallel()
	c := newConsumers(t, proxyRestartPush, pushConsumer)
	c.env.Inject(c.broker.Proxy().Restart())
	c.goOn(proxyBudget, len(before))
}

var proxyRestartSimple = testenv.Case{
	Name:   "rocketmqpop/proxy-restart-simple",
	Claim:  "a simple consumer goes on after the proxy was restarted, in order and with nothing acknowledged coming again",
	Issue:  settingsReport,
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Client: "v5.1.3", Evidence: toldLate, Fails: goesOn(simpleConsumer), Open: settingsReport},
		{Client: "v5.1.4", Evidence: toldLate, Fails: goesOn(simpleConsumer), Open: settingsReport},
	},
}

func TestSimpleConsumerGoesOnAfterProxyRestart(t *testing.T) {
	t.Parallel()
	c := newConsumers(t, proxyRestartSimple, simpleConsumer)
	c.env.Inject(c.broker.Proxy().Restart())
	c.goOn(proxyBudget, len(before))
}

var brokerRestarted = testenv.Case{
	Name:   "rocketmqpop/broker-restart",
	Claim:  "consumers go on after the broker was restarted, in order and with nothing acknowledged coming again",
	Issue:  "https://github.com/apache/rocketmq/issues/9170",
	Client: underTest,
	Shares: true,
}

func TestConsumersGoOnAfterBrokerRestart(t *testing.T) {
	t.Parallel()
	c := newConsumers(t, brokerRestarted, pushConsumer, simpleConsumer)
	c.env.Inject(c.broker.Server().Restart())
	c.goOn(goOnBudget, len(before))
}

var brokerKilled = testenv.Case{
	Name:   "rocketmqpop/broker-kill",
	Claim:  "consumers go on after the broker was killed and started again, in order and with nothing missing",
	Issue:  "https://github.com/apache/rocketmq/issues/9170",
	Client: underTest,
	Shares: true,
}

// What was acknowledged may come again here: the broker keeps a group's progress
// in memory for five seconds (flushConsumerOffsetInterval). What was taken when it
// last wrote that stays taken until its invisible time ends, see proxySettings.
func TestConsumersGoOnAfterBrokerWasKilled(t *testing.T) {
	t.Parallel()
	c := newConsumers(t, brokerKilled, pushConsumer, simpleConsumer)
	killed := c.env.Inject(c.broker.Server().Kill())
	killed.Heal()
	c.goOn(goOnBudget, 0)
}

var brokerHung = testenv.Case{
	Name:   "rocketmqpop/broker-pause",
	Claim:  "consumers go on after the broker hung, in order and with nothing acknowledged coming again",
	Client: underTest,
	Shares: true,
}

func TestConsumersGoOnAfterBrokerHung(t *testing.T) {
	t.Parallel()
	c := newConsumers(t, brokerHung, pushConsumer, simpleConsumer)
	hung := c.env.Inject(c.broker.Server().Pause())
	c.env.Holds("nothing comes while the broker hangs", c.env.ByProfile(5*time.Second, 60*time.Second), func(context.Context) error {
		for _, one := range c.all {
			if err := same(before, one.got.all()); err != nil {
				return err
			}
		}
		return nil
	})
	hung.Heal()
	c.goOn(goOnBudget, len(before))
}
