package testenv

import (
	"context"
	"fmt"
)

func startRocketMQSubject(e *Env) subject {
	s, _ := rocketMQSubject(e, RocketMQSpec{})
	return s
}

func rocketMQSubject(e *Env, spec RocketMQSpec) (subject, *RocketMQ) {
	r := e.StartRocketMQ(spec)
	const topic = "conformance"
	var wide []string
	for _, n := range r.nodes {
		for _, port := range r.ports(n.Name()) {
			if !port.Everywhere {
				continue
			}
			address, err := n.Address(port.Name)
			if err != nil {
				e.environment("find the ports: %v", err)
			}
			wide = append(wide, address)
		}
	}
	return subject{
		broker: r.Broker,
		change: Change{Config: map[string]string{"fileReservedTime": "77"}},
		put:    func(ctx context.Context) error { return r.CreateTopic(ctx, RocketMQTopic{Name: topic}) },
		kept: func(ctx context.Context) error {
			if err := r.hasRoute(ctx, topic); err != nil {
				return err
			}
			if _, err := r.MaxOffset(ctx, topic, 0); err != nil {
				return fmt.Errorf("the topic is gone: %w", err)
			}
			return r.roundTrip(ctx)
		},
		write: r.roundTrip,
		// The JVM's -showversion writes it.
		wide:    wide,
		started: func(string) string { return "Runtime Environment" },
	}, r
}
