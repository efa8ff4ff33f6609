package pulsarquota

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/backoff"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/sirupsen/logrus"

	"github.com/brokerfault/brokerfault/testenv"
)

// underTest is the client of this package.
var underTest = testenv.Client{Module: "github.com/apache/pulsar-client-go", Symbol: pulsar.NewClient}

// messageSize is that of the original incident.
const messageSize = 10 << 10

// newClient makes a client that logs into the evidence. It is the caller's to close.
func newClient(env *testenv.Env, broker *testenv.Pulsar, name string) (pulsar.Client, error) {
	client, err := pulsar.NewClient(pulsar.ClientOptions{
		URL:               broker.ServiceURL(),
		OperationTimeout:  5 * time.Second,
		ConnectionTimeout: 5 * time.Second,
		Logger:            log.NewLoggerWithLogrus(logger(env.Log(name))),
	})
	if err != nil {
		return nil, fmt.Errorf("make the client: %w", err)
	}
	return client, nil
}

func logger(out io.Writer) *logrus.Logger {
	l := logrus.New()
	l.SetOutput(out)
	l.SetFormatter(&logrus.TextFormatter{DisableColors: true, FullTimestamp: true, TimestampFormat: time.RFC3339Nano})
	return l
}

// producerOptions are those of the incident: no batching, a block when the queue is full.
func producerOptions(topic string) pulsar.ProducerOptions {
	return pulsar.ProducerOptions{
		Topic:           topic,
		DisableBatching: true,
		SendTimeout:     3 * time.Second,
	}
}

// promptly makes a producer try to reconnect every 200 ms. By default its
// pauses double up to a minute, which tests the patience of the test only.
func promptly(o pulsar.ProducerOptions) pulsar.ProducerOptions {
	o.BackOffPolicyFunc = func() backoff.Policy { return everyFifth{} }
	return o
}

type everyFifth struct{}

func (everyFifth) Next() time.Duration       { return 200 * time.Millisecond }
func (everyFifth) IsMaxBackoffReached() bool { return false }
func (everyFifth) Reset()                    {}

// send sends one message of the incident's size.
func send(ctx context.Context, p pulsar.Producer) error {
	_, err := p.Send(ctx, &pulsar.ProducerMessage{Payload: make([]byte, messageSize)})
	return err
}

// sends is the probe "a send succeeds".
func sends(p pulsar.Producer) testenv.Probe {
	return func(ctx context.Context) error { return send(ctx, p) }
}

// refused is the probe "a send fails, and does return".
func refused(p pulsar.Producer) testenv.Probe {
	return func(ctx context.Context) error {
		if send(ctx, p) == nil {
			return testenv.Stop(errors.New("a send succeeded"))
		}
		return nil
	}
}
