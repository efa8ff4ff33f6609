package testenv

import (
	"context"
	"slices"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/link"
)

// plan is a broker to be started.
type plan struct {
	name, version string
	// setting is the one, KEY=VALUE, with which a test that names no version runs this one.
	setting string
	nodes   []broker.Node
	// ready makes the probe of the broker's readiness.
	ready func(b *Broker) Probe
	// resents says that the broker keeps something of having been down, so that no later
	// test is given it.
	resents bool
	// settled, if it is not nil, makes the probe of what must hold as well before a later
	// test is given the broker.
	settled func(b *Broker) Probe
	// before, if it is not nil, makes the probe of what must hold before a node
	// is started; a nil probe is nothing.
	before func(b *Broker, node string) Probe
	// fits, if it is not nil, says why the broker cannot run in a runtime.
	fits func(runtime string) error
	// with makes the plan of the same broker after a change, and tells looks for the change
	// in what the broker tells of itself, its logs from these offsets on among it.
	with  func(c Change) (plan, error)
	tells func(ctx context.Context, b *Broker, c Change, logs map[string]int64) error
	// greet are handshakes at a port, and nothing but that, by the port's name.
	greet map[string]greeting
	// inspect, if it is not nil, is told of each link before it forwards anything.
	inspect func(l *link.Link)
	// spec is what the nodes were made of. Two plans with one name, version and
	// spec are of brokers that are alike.
	spec any
	// whole is what the scenario calls the broker, *Kafka for instance.
	whole any
}

// node is the node of a name; the zero value is of none.
func (p plan) node(name string) broker.Node {
	for _, n := range p.nodes {
		if n.Name == name {
			return n
		}
	}
	return broker.Node{}
}

// withFlags are the nodes with their JVMs' flags changed.
func withFlags(nodes []broker.Node, change func(jvm []string) []string) []broker.Node {
	nodes = slices.Clone(nodes)
	for i, n := range nodes {
		nodes[i].Launch = func(at broker.Site) broker.Launch {
			l := n.Launch(at)
			l.JVM = change(l.JVM)
			return l
		}
	}
	return nodes
}
