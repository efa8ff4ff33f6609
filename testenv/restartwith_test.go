package testenv

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// changeable is a node that can become another one, and tells its version when it starts.
type changeable struct {
	*fakeNode

	is   broker.Node
	says func(version string) string
	did  []string
}

func (n *changeable) Stop(context.Context) error { n.did = append(n.did, "stopped"); return nil }

func (n *changeable) Start(context.Context) error {
	n.did = append(n.did, "started")
	return n.say("Kafka version: " + n.says(n.is.Bill.Version) + " (x)\n")
}

func (n *changeable) Fetch(_ context.Context, bill dist.Bill, _ func(string, ...any)) error {
	n.did = append(n.did, "fetched "+bill.Version)
	return nil
}

func (n *changeable) Become(_ context.Context, next broker.Node, _ func(string, ...any)) error {
	n.did = append(n.did, "became "+next.Bill.Version)
	n.is = next
	return nil
}

// changeableBroker is a Kafka of one node that is gone whenever it is looked for.
func changeableBroker(t *testing.T, e *Env, says func(string) string) (*Broker, *changeable) {
	t.Helper()
	k := &Kafka{version: "3.9.2", brokers: 1}
	p, err := k.plan(KafkaSpec{Version: "3.9.2", Brokers: 1})
	require.NoError(t, err)
	n := &changeable{fakeNode: &fakeNode{log: filepath.Join(t.TempDir(), "log")}, is: p.nodes[0], says: says}
	require.NoError(t, n.say("Kafka version: 3.9.2 (x)\n"))
	b := echoBroker(t, e, "kafka-1")
	b.plan, b.nodes, b.ready = p, []runtime.Node{n}, succeeds
	b.plan.greet = map[string]greeting{broker.KafkaClient: echoes}
	b.links["kafka-1/client"].Cut()
	return b, n
}

func same(version string) string { return version }

func TestRestartWithAnotherVersionFetchesItBeforeTheStop(t *testing.T) {
	t.Parallel()
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		b, n := changeableBroker(t, e, same)
		e.Inject(b.RestartWith(Change{Version: "4.4.0"}))
		require.Equal(tb, []string{"fetched 4.4.0", "stopped", "became 4.4.0", "started"}, n.did)
		e.Recovers("it is there", time.Second, succeeds)
	})
	d.requireVerdict(t, "recovered")
}

func TestRestartWithDoesNotBiteIfTheBrokerTellsAnotherVersion(t *testing.T) {
	for name, test := range map[string]struct {
		says func(string) string
		want string
	}{
		"the old one": {func(string) string { return "3.9.2" }, `its log tells the version "3.9.2", not "4.4.0"`},
		"none":        {func(string) string { return "" }, "its log tells no version since its start"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := scenario(t, func(tb testing.TB) {
				e := New(tb, Case{})
				b, _ := changeableBroker(t, e, test.says)
				e.Inject(b.RestartWith(Change{Version: "4.4.0"}))
			})
			d.requireVerdict(t, "environment")
			require.Contains(t, d.attrs["reason"], "did not bite")
			require.Contains(t, d.attrs["reason"], test.want)
		})
	}
}

func TestRestartWithThatWasNotAppliedDoesNotBite(t *testing.T) {
	t.Parallel()
	d, _ := scenario(t, func(tb testing.TB) {
		e := New(tb, Case{})
		b, _ := changeableBroker(t, e, same)
		f := b.RestartWith(Change{Version: "4.4.0"})
		f.Apply = succeeds
		e.Inject(f)
	})
	d.requireVerdict(t, "environment")
	require.Contains(t, d.attrs["reason"], "was not started anew")
}

func TestRestartWithIsRefusedBeforeTheBrokerIsHurt(t *testing.T) {
	for want, c := range map[string]Change{
		"the change has neither a version nor settings: take Restart":                               {},
		"kafka 3.9.2 consists of [kafka-1], and 2.8.2 of [zookeeper kafka-1]: it cannot go on with": {Version: "2.8.2"},
		`"[3,4)" is not a plain version`:                                                            {Version: "[3,4)"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			d, _ := scenario(t, func(tb testing.TB) {
				e := New(tb, Case{})
				b, n := changeableBroker(t, e, same)
				defer func() { require.Empty(tb, n.did) }()
				e.Inject(b.RestartWith(c))
			})
			d.requireVerdict(t, "environment")
			require.Contains(t, d.attrs["reason"], want)
		})
	}
}

func TestChangeSaysWhatItChangesAndLeavesTheSpecAlone(t *testing.T) {
	c := Change{Version: "4.4.0", Config: map[string]string{"b": "2", "a": "1"}}
	require.Equal(t, "version 4.4.0 and a=1 and b=2", c.String())
	spec := map[string]string{"a": "0", "z": "26"}
	require.Equal(t, map[string]string{"a": "1", "b": "2", "z": "26"}, c.on(spec))
	require.Equal(t, map[string]string{"a": "0", "z": "26"}, spec)
	require.Equal(t, map[string]string{"a": "1", "b": "2"}, c.on(nil))
}

func TestConfiguredNamesWhatIsNot(t *testing.T) {
	got := map[string]string{"a": "1", "b": "2"}
	require.NoError(t, configured(map[string]string{"a": "1", "c": ""}, got))
	require.EqualError(t, configured(map[string]string{"a": "3", "d": "4"}, got), "it has a=\"1\", not \"3\"\nit has d=\"\", not \"4\"")
}

// upgrade is a broker with the version that it goes on with.
type upgrade struct {
	start func(e *Env) (whole subject, changed *Broker)
	to    string
}

var upgrades = map[string]upgrade{
	"kafka": {func(e *Env) (subject, *Broker) {
		s := kafkaSubject(e, KafkaSpec{Version: "3.9.2"}, "")
		return s, s.broker
	}, "4.4.0"},
	"pulsar": {func(e *Env) (subject, *Broker) {
		s := pulsarSubject(e, PulsarSpec{Version: "3.0.2"})
		return s, s.broker
	}, "4.2.4"},
	"rocketmq's broker alone": {func(e *Env) (subject, *Broker) {
		s, r := rocketMQSubject(e, RocketMQSpec{Version: "5.5.0"})
		return s, r.Server()
	}, "5.5.1"},
}

func TestEveryBrokerGoesOnWithAnotherVersionOnItsData(t *testing.T) {
	inEveryRuntime(t, upgrades, func(t *testing.T, _ string, up upgrade) {
		e := New(t, Case{Name: "testenv/upgrade", Claim: "a broker goes on with another version"})
		s, changed := up.start(e)
		e.Within("something is stored", 30*time.Second, s.put)
		before := addresses(s.broker)
		e.Inject(changed.RestartWith(Change{Version: up.to}))
		e.Recovers("a handshake succeeds", 5*time.Second, s.handshake)
		e.Within("what was stored is there", 30*time.Second, s.kept)
		require.Equal(t, before, addresses(s.broker))
	})
}
