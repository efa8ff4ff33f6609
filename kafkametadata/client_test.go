package kafkametadata

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/brokerfault/brokerfault/testenv"
)

// underTest is the client of this package.
var underTest = testenv.Client{Module: "github.com/twmb/franz-go", Symbol: kgo.NewClient}

// client is the client under test, as far as the scenarios need it.
type client struct{ *kgo.Client }

// newClient makes a client that logs into the evidence under its name. It is the
// caller's to close.
func newClient(env *testenv.Env, kafka *testenv.Kafka, name string, options ...kgo.Opt) (client, error) {
	all := []kgo.Opt{
		kgo.SeedBrokers(kafka.Addresses()...),
		kgo.WithLogger(kgo.BasicLogger(env.Log(name), kgo.LogLevelInfo, func() string {
			return time.Now().Format("15:04:05.000 ")
		})),
	}
	// Before 0.10 it does not know the request that asks for versions, and hangs up.
	switch {
	case kafka.Before(0, 9):
		all = append(all, kgo.MaxVersions(kversion.V0_8_2()))
	case kafka.Before(0, 10):
		all = append(all, kgo.MaxVersions(kversion.V0_9_0()))
	}
	c, err := kgo.NewClient(append(all, options...)...)
	if err != nil {
		return client{}, fmt.Errorf("make the client: %w", err)
	}
	return client{c}, nil
}

// underTestIn makes the client under test, closed when the scenario ends.
func underTestIn(t *testing.T, env *testenv.Env, kafka *testenv.Kafka, options ...kgo.Opt) client {
	t.Helper()
	c, err := newClient(env, kafka, "client", options...)
	require.NoError(t, err)
	env.Closes("the client", c.Close)
	return c
}

// send sends a record and waits for the broker's word.
func (c client) send(ctx context.Context, topic, value string) error {
	return c.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr()
}

// sends is the probe "a send to the topic succeeds".
func (c client) sends(topic string) testenv.Probe {
	return func(ctx context.Context) error { return c.send(ctx, topic, "probe") }
}

// sendsNumbers is the probe "each of these numbers is taken".
func (c client) sendsNumbers(topic string, first, last int) testenv.Probe {
	return func(ctx context.Context) error {
		var all []*kgo.Record
		for n := first; n <= last; n++ {
			all = append(all, &kgo.Record{Topic: topic, Value: fmt.Append(nil, n)})
		}
		return c.ProduceSync(ctx, all...).FirstErr()
	}
}

// freshSends is the witness: a fresh client sends to the topic.
func freshSends(env *testenv.Env, kafka *testenv.Kafka, topic string) testenv.Probe {
	return fresh(env, kafka, func(ctx context.Context, c client) error { return c.send(ctx, topic, "witness") })
}

// fresh is a probe with a client of its own.
func fresh(env *testenv.Env, kafka *testenv.Kafka, probe func(context.Context, client) error) testenv.Probe {
	return func(ctx context.Context) error {
		c, err := newClient(env, kafka, "witness")
		if err != nil {
			return err
		}
		defer c.Close()
		return probe(ctx, c)
	}
}
