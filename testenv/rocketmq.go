package testenv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
)

// RocketMQSpec says which RocketMQ to start. Its zero value is a name server, a
// broker and a gRPC proxy of the versions in BROKERFAULT_ROCKETMQ, tuned for tests.
type RocketMQSpec struct {
	// Version is any from 5.1 on that Maven Central has; empty is BROKERFAULT_ROCKETMQ, else
	// 5.5.1. Of 5.5.1 the broker alone is taken, over name server and proxy 5.5.0.
	Version string
	// BrokerVersion is that of the broker alone, as half-way through a rolling
	// upgrade: name server and proxy are then of exactly Version. Empty is Version.
	BrokerVersion string
	// Config are settings of broker.conf, on top of the test's own; a setting
	// with an empty value is left out.
	Config map[string]string
	// ProxyConfig are settings of rmq-proxy.json in the same way. Numbers and
	// booleans are written as such.
	ProxyConfig map[string]string
	// DataLimit gives the broker's store a file system of its own,
	// of so many bytes, in memory: what [Broker.FillDisk] needs. The data outlive Kill and
	// Restart: a second container, NAME-disk, keeps them. Zero is none. It takes
	// containers; in processes the start is refused. 256 MiB (256 << 20) is what the
	// tests take.
	DataLimit int64
}

// RocketMQ is a running RocketMQ: a name server, a broker and a gRPC proxy in
// cluster mode, so that clients stay on the link and broker and proxy can be
// hurt apart.
type RocketMQ struct {
	*Broker
}

// StartRocketMQ starts a RocketMQ of this Env's own, or takes over the one of an earlier test
// (Case.Shares), and returns once the route
// of a topic was found and a message sent and received at the address that
// clients use. If it does not start, the test ends with the verdict environment
// and the last log lines.
func (e *Env) StartRocketMQ(spec RocketMQSpec) *RocketMQ {
	e.t.Helper()
	version, brokerVersion := spec.versions(e.settings.RocketMQ)
	spec.Version, spec.BrokerVersion = version, brokerVersion
	r := &RocketMQ{}
	p, err := r.plan(spec)
	if err != nil {
		e.environment("start rocketmq: %v", err)
	}
	p.spec, p.whole = spec, r
	b := e.start(p)
	if version != brokerVersion {
		e.Note("name server and proxy are RocketMQ %s", version)
	}
	return b.plan.whole.(*RocketMQ)
}

// plan is that of a spec with both versions.
func (r *RocketMQ) plan(spec RocketMQSpec) (plan, error) {
	bill, err := dist.RocketMQ(spec.Version, spec.BrokerVersion)
	if err != nil {
		return plan{}, err
	}
	nodes, err := limited(broker.RocketMQ(bill, spec.Config, spec.ProxyConfig), spec.DataLimit, spec.Config, "storePathRootDir", "storePathCommitLog")
	if err != nil {
		return plan{}, err
	}
	return plan{
		name: "rocketmq",
		// The broker's own: what the suite's cases are about is its doing.
		version: spec.BrokerVersion,
		setting: "BROKERFAULT_ROCKETMQ=" + dist.RocketMQSetting(spec.Version, spec.BrokerVersion),
		nodes:   nodes,
		ready: func(b *Broker) Probe {
			r.Broker = b
			return r.roundTrip
		},
		// It asks nodes that a part of the broker does not have.
		before: func(_ *Broker, node string) Probe { return r.neededBy(node) },
		with: func(c Change) (plan, error) {
			next := spec
			next.Config = c.on(spec.Config)
			if c.Version != "" {
				next.Version, next.BrokerVersion = RocketMQSpec{}.versions(c.Version)
			}
			return r.plan(next)
		},
		tells: r.tells,
		greet: map[string]greeting{
			broker.RocketMQNames:    remotingHandshake,
			broker.RocketMQRemoting: remotingHandshake,
			broker.RocketMQGRPC:     http2Handshake,
		},
	}, nil
}

func (s RocketMQSpec) versions(setting string) (version, brokerVersion string) {
	if s.Version != "" {
		setting = s.Version
	}
	return dist.RocketMQVersions(setting, s.BrokerVersion)
}

// Endpoint is where clients connect, host:port: the link in front of the
// proxy. It stays the same over restarts.
func (r *RocketMQ) Endpoint() string {
	return r.links[broker.RocketMQProxy+"/"+broker.RocketMQGRPC].Address()
}

// Proxy is the gRPC proxy alone: what is done to it is not done to the broker.
func (r *RocketMQ) Proxy() *Broker { return r.part(broker.RocketMQProxy) }

// Server is the broker alone, without proxy and name server.
func (r *RocketMQ) Server() *Broker { return r.part(broker.RocketMQBroker) }

// neededBy is what must hold before a node can start: the proxy ends at once if no
// broker is registered. Broker and name server start side by side.
func (r *RocketMQ) neededBy(node string) Probe {
	if node != broker.RocketMQProxy {
		return nil
	}
	var answers time.Time // since then the broker does
	return func(ctx context.Context) error {
		route := r.hasRoute(ctx, broker.RocketMQCluster)
		if route == nil {
			return r.makeReadiness(ctx)
		}
		address, err := r.address(broker.RocketMQBroker, broker.RocketMQRemoting)
		if err == nil {
			err = greetAt(ctx, address, remotingHandshake)
		}
		if err != nil {
			answers = time.Time{}
			return errors.Join(route, err)
		}
		if answers.IsZero() {
			answers = time.Now()
		}
		// It registers itself at its start and then every ten seconds only, and may have
		// been quicker than the name server.
		if time.Since(answers) > registersWithin {
			return errors.Join(route, r.register(ctx))
		}
		return route
	}
}

// registersWithin is how long a broker that answers may take to be registered.
const registersWithin = time.Second

// The topic and the group of the readiness probe.
const (
	readyTopic = "brokerfault-ready"
	readyGroup = "brokerfault-ready"
)

func (r *RocketMQ) makeReadiness(ctx context.Context) error {
	// The proxy makes the second one at its start, and ends if that takes seconds.
	for _, topic := range []string{readyTopic, "DefaultHeartBeatSyncerTopic"} {
		if err := r.CreateTopic(ctx, RocketMQTopic{Name: topic}); err != nil {
			return err
		}
	}
	return r.CreateGroup(ctx, RocketMQGroup{Name: readyGroup})
}

// roundTrip is the readiness probe.
func (r *RocketMQ) roundTrip(ctx context.Context) error {
	if err := errors.Join(r.greets(ctx)...); err != nil {
		return err
	}
	if err := r.hasRoute(ctx, readyTopic); err != nil {
		return err
	}
	if err := popRoundTrip(ctx, r.Endpoint(), readyTopic, readyGroup); err != nil {
		return fmt.Errorf("send and receive through the proxy: %w", err)
	}
	return nil
}
