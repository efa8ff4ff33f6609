package rocketmqpop

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

// scene is a RocketMQ with a topic of one queue and a group that consumes it.
type scene struct {
	env          *testenv.Env
	broker       *testenv.RocketMQ
	topic, group string
	fifo         bool
}

// setting is what a scene differs in. Its zero value is a FIFO topic, an orderly
// group, and the broker's PopKv path.
type setting struct {
	// spec says which versions.
	spec testenv.RocketMQSpec
	// withoutKV is the broker's default, its older path.
	withoutKV bool
	// normal is a topic without order, and a group to match.
	normal bool
	// retries is how often the group gets a message again; zero is 16.
	retries int
	// proxy are further settings of the proxy.
	proxy map[string]string
}

// popKV makes the broker keep what is popped in its key-value store, which the
// incident happened in.
var popKV = map[string]string{
	"popConsumerKVServiceInit":   "true",
	"popConsumerKVServiceEnable": "true",
	"popConsumerKVServiceLog":    "true",
}

// proxySettings takes polls and invisible times of a second, and lets consumers
// poll for 2 s only, instead of 20.
//
// Two effects of an outage of the broker are kept out. The proxy forgets no group and
// no topic meanwhile, which unknowngroup_test.go is about. And what a push consumer has
// taken is invisible for ten seconds, where the default is a minute, and renewed in the
// last six of them: a killed broker takes up the locks again that it last wrote to its
// disk (consumerOrderInfo.json, every five seconds), also of what was acknowledged
// since, and its queue is blocked until their invisible time ends.
var proxySettings = map[string]string{
	"grpcClientConsumerMinLongPollingTimeoutMillis": "1000",
	"grpcClientConsumerMaxLongPollingTimeoutMillis": "2000",
	"minInvisibleTimeMillsForRecv":                  "1000",
	"subscriptionGroupConfigCacheRefreshSeconds":    "3600",
	"topicConfigCacheRefreshSeconds":                "3600",
	"defaultInvisibleTimeMills":                     "10000",
	"renewAheadTimeMillis":                          "6000",
}

// patientAndEager are the settings of the proxy that some tests have on top. Polls
// may take 20 s, and what is invisible for 4 s is renewed every half second where its
// receive asks for that. Both in one, so that these tests share a broker.
var patientAndEager = map[string]string{
	"grpcClientConsumerMaxLongPollingTimeoutMillis": "20000",
	"defaultInvisibleTimeMills":                     "4000",
	"renewAheadTimeMillis":                          "3000",
	"renewSchedulePeriodMillis":                     "500",
}

func newScene(t *testing.T, env *testenv.Env, o setting) *scene {
	t.Helper()
	o.spec.ProxyConfig = maps.Clone(proxySettings)
	maps.Copy(o.spec.ProxyConfig, o.proxy)
	if !o.withoutKV {
		o.spec.Config = popKV
	}
	s := &scene{env: env, broker: env.StartRocketMQ(o.spec), topic: env.Unique("orders"), group: env.Unique("billing"), fifo: !o.normal}
	ctx, cancel := context.WithTimeout(env.Context(), 30*time.Second)
	defer cancel()
	kind := "FIFO"
	if o.normal {
		kind = "NORMAL"
	}
	require.NoError(t, s.broker.CreateTopic(ctx, testenv.RocketMQTopic{Name: s.topic, Type: kind}))
	require.NoError(t, s.broker.CreateGroup(ctx, testenv.RocketMQGroup{
		Name: s.group, Orderly: s.fifo, MaxRetries: o.retries, Backoff: time.Second,
	}))
	return s
}

// allConsumed is the probe "the group is at the end of the queue", which says
// that nothing that was sent is missing.
func (s *scene) allConsumed(ctx context.Context) error { return s.consumedBy(s.group)(ctx) }

func (s *scene) consumedBy(group string) testenv.Probe {
	return func(ctx context.Context) error {
		end, err := s.broker.MaxOffset(ctx, s.topic, 0)
		if err != nil {
			return err
		}
		at, err := s.broker.ConsumerOffset(ctx, group, s.topic, 0)
		if err != nil {
			return err
		}
		if at != end {
			return fmt.Errorf("the group %q is at offset %d of %d", group, at, end)
		}
		return nil
	}
}

func same(want, got []int) error {
	if !slices.Equal(want, got) {
		return fmt.Errorf("the messages are %v, not %v", got, want)
	}
	return nil
}
