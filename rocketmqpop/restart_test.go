package rocketmqpop

import (
	"context"
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

// goOnBudget has room for a client's own pauses, of up to some seconds, between
// two tries, and for the ten seconds in which proxy and broker find each other.
const goOnBudget = 40 * time.Second

var proxyRestartPush = testenv.Case{
	Name:   "rocketmqpop/proxy-restart-push",
	Claim:  "a push consumer goes on after the proxy was restarted, in order and with nothing acknowledged coming again",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1137",
	Client: underTest,
}

func TestPushConsumerGoesOnAfterProxyRestart(t *testing.T) {
	c := newConsumers(t, proxyRestartPush, pushConsumer)
	c.env.Inject(c.broker.Proxy().Restart())
	c.goOn(goOnBudget)
}

var proxyRestartSimple = testenv.Case{
	Name:   "rocketmqpop/proxy-restart-simple",
	Claim:  "a simple consumer goes on after the proxy was restarted, in order and with nothing acknowledged coming again",
	Issue:  "https://github.com/apache/rocketmq-clients/issues/1137",
	Client: underTest,
}

func TestSimpleConsumerGoesOnAfterProxyRestart(t *testing.T) {
	c := newConsumers(t, proxyRestartSimple, simpleConsumer)
	c.env.Inject(c.broker.Proxy().Restart())
	c.goOn(goOnBudget)
}

var brokerKilled = testenv.Case{
	Name:   "rocketmqpop/broker-restart",
	Claim:  "consumers go on after the broker was killed and started again, in order and with nothing acknowledged coming again",
	Issue:  "https://github.com/apache/rocketmq/issues/9170",
	Client: underTest,
}

func TestConsumersGoOnAfterBrokerWasKilled(t *testing.T) {
	c := newConsumers(t, brokerKilled, pushConsumer, simpleConsumer)
	killed := c.env.Inject(c.broker.Server().Kill())
	killed.Heal()
	c.goOn(goOnBudget)
}

var brokerHung = testenv.Case{
	Name:   "rocketmqpop/broker-pause",
	Claim:  "consumers go on after the broker hung, in order and with nothing acknowledged coming again",
	Client: underTest,
}

func TestConsumersGoOnAfterBrokerHung(t *testing.T) {
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
	c.goOn(goOnBudget)
}
