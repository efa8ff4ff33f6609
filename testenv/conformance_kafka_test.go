package testenv

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
)

func startKafkaSubject(e *Env) subject {
	s := kafkaSubject(e, KafkaSpec{Brokers: 3}, "Kafka Server started")
	s.change = Change{Config: map[string]string{"log.retention.hours": "77"}}
	return s
}

// startOldKafkaSubject starts the oldest of all.
func startOldKafkaSubject(e *Env) subject {
	return kafkaSubject(e, KafkaSpec{Version: "0.8.2.1"}, "KafkaServer - [Kafka Server 1], started")
}

// kafkaSubject stores the name of a topic, which a broker creates when it is asked for it.
func kafkaSubject(e *Env, spec KafkaSpec, started string) subject {
	const topic = "conformance"
	spec.Config = map[string]string{"auto.create.topics.enable": "true"}
	k := e.StartKafka(spec)
	return subject{
		broker: k.Broker,
		put: func(ctx context.Context) error {
			r := kmsg.NewPtrMetadataRequest()
			r.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr(topic)}}
			_, err := kafkaRoundTrip(ctx, k.Addresses()[0], r)
			return err
		},
		kept: func(ctx context.Context) error {
			for _, address := range k.Addresses() {
				known, err := kafkaMetadata(ctx, address)
				if err != nil {
					return err
				}
				if !names(known, topic) {
					return fmt.Errorf("the topic is gone; there are %v", known.Topics)
				}
			}
			return nil
		},
		write: func(ctx context.Context) error {
			r := kmsg.NewPtrMetadataRequest()
			r.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr(e.Unique(topic))}}
			_, err := kafkaRoundTrip(ctx, k.Addresses()[0], r)
			return err
		},
		started: func(node string) string {
			if node == broker.KafkaZooKeeper {
				return "binding to port"
			}
			return started
		},
	}
}

func names(known *kmsg.MetadataResponse, topic string) bool {
	for _, t := range known.Topics {
		if *t.Topic == topic && t.ErrorCode == 0 {
			return true
		}
	}
	return false
}
