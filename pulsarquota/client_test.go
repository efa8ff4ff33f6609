package pulsarquota

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/sirupsen/logrus"

	"github.com/brokerfault/brokerfault/testenv"
)

// underTest is the client of this package.
var underTest = testenv.Client{Module: "github.com/apache/pulsar-client-go", Symbol: pulsar.NewClient}

// sendTimeout is how long a client that is right lets a send wait for its answer.
const sendTimeout = 3 * time.Second

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
		SendTimeout:     sendTimeout,
	}
}

// send sends one message of the incident's size.
func send(ctx context.Context, p pulsar.Producer) error {
	_, err := p.Send(ctx, &pulsar.ProducerMessage{Payload: make([]byte, messageSize)})
	return err
}

// sends is the probe "a send succeeds".
func sends(p pulsar.Producer) testenv.Probe {
	return func(ctx context.Context) error { return send(ctx, p) }
}

// isQuotaError says that a caller can tell the quota's refusal by the error's type. From
// v0.12.0 on it is ErrProducerBlockedQuotaExceeded, a name that older releases do not have.
func isQuotaError(err error) bool {
	var typed *pulsar.Error
	return errors.As(err, &typed) && typed.Result() == pulsar.ProducerBlockedQuotaExceededException
}

// refused is the probe "a send fails, and does return".
func refused(p pulsar.Producer) testenv.Probe { return fails(sends(p)) }

// fails is the probe that a send fails.
func fails(sends testenv.Probe) testenv.Probe {
	return func(ctx context.Context) error {
		if sends(ctx) == nil {
			return testenv.Stop(errors.New("a send succeeded"))
		}
		return nil
	}
}
