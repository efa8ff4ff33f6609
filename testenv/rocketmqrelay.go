package testenv

import (
	"context"

	"github.com/brokerfault/brokerfault/testenv/internal/rawgrpc"
)

// Relay is a gRPC server between clients and the proxy, that hands every call on
// and can be told to lose, delay or replace an answer. It is behind the link's
// faults: clients connect to the relay, and the relay to the link.
type Relay struct {
	*rawgrpc.Relay
}

// RelayRule is what a relay does to the calls of a method.
type RelayRule = rawgrpc.Rule

// RelayCall is a call that came to a relay.
type RelayCall = rawgrpc.Call

// Relay opens a relay that lasts as long as the test. Clients have to connect to
// its Address without TLS.
func (r *RocketMQ) Relay() *Relay {
	r.env.t.Helper()
	relay, err := rawgrpc.Listen(r.Endpoint(), "Telemetry")
	if err != nil {
		r.env.environment("open a relay: %v", err)
	}
	r.env.Closes("the relay", func() { _ = relay.Close() })
	return &Relay{relay}
}

// Fault is the fault of calls that meet the rule. Its proof is that one did;
// apply, which may be nil, brings such calls about.
func (r *Relay) Fault(name string, rule *RelayRule, apply Probe) Fault {
	return Fault{
		Name: name,
		Apply: func(ctx context.Context) error {
			r.Add(rule)
			if apply == nil {
				return nil
			}
			return apply(ctx)
		},
		Bites: rule.Bites,
	}
}
