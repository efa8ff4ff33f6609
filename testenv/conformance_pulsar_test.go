package testenv

import (
	"context"
	"fmt"
	"net/http"
)

func startPulsarSubject(e *Env) subject { return pulsarSubject(e, PulsarSpec{}) }

func pulsarSubject(e *Env, spec PulsarSpec) subject {
	p := e.StartPulsar(spec)
	const topic = "persistent://public/default/conformance"
	return subject{
		broker: p.Broker,
		change: Change{Config: map[string]string{"backlogQuotaCheckIntervalInSeconds": "77"}},
		put:    func(ctx context.Context) error { return p.CreateSubscription(ctx, topic, "reader") },
		kept: func(ctx context.Context) error {
			stats, err := p.TopicStats(ctx, topic)
			if err != nil {
				return err
			}
			if _, there := stats.Subscriptions["reader"]; !there {
				return fmt.Errorf("the subscription is gone; there are %v", stats.Subscriptions)
			}
			return p.Admin(ctx, http.MethodGet, "/admin/v2/brokers/health", nil, nil)
		},
		write:   func(ctx context.Context) error { return p.CreateSubscription(ctx, e.Unique(topic), "reader") },
		started: func(string) string { return "Starting Pulsar Broker service" },
	}
}
