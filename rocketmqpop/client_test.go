package rocketmqpop

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	rmq "github.com/apache/rocketmq-clients/golang/v5"
	"github.com/apache/rocketmq-clients/golang/v5/credentials"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

// underTest is the client of this package. Where a popper pops, the broker is under test.
var underTest = testenv.Client{Module: "github.com/apache/rocketmq-clients/golang/v5", Symbol: rmq.ResetLogger}

// The client speaks TLS by default, which a relay could not read.
func init() { rmq.EnableSsl = false }

// keepLog puts the client's log, of which a process has one, into the evidence.
func (s *scene) keepLog(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "rocketmq-client-") // t.TempDir's would be gone before the log is closed
	require.NoError(t, err)
	t.Setenv("rocketmq.client.logRoot", dir)
	t.Setenv("rocketmq.client.logFileName", "client.log")
	rmq.ResetLogger()
	s.env.Closes("the client's log", func() {
		text, err := os.ReadFile(filepath.Join(dir, "client.log"))
		if err != nil {
			s.env.Note("there is no log of the client: %v", err)
		}
		_, _ = s.env.Log("client").Write(text)
		_ = os.RemoveAll(dir)
	})
}

func (s *scene) config(endpoint, group string) *rmq.Config {
	return &rmq.Config{Endpoint: endpoint, ConsumerGroup: group, Credentials: &credentials.SessionCredentials{}}
}

func (s *scene) subscription() map[string]*rmq.FilterExpression {
	return map[string]*rmq.FilterExpression{s.topic: rmq.SUB_ALL}
}

// push starts a push consumer. What listen returns is the message's fate.
func (s *scene) push(t *testing.T, endpoint, group string, listen func(*rmq.MessageView) rmq.ConsumerResult) {
	t.Helper()
	consumer, err := rmq.NewPushConsumer(s.config(endpoint, group),
		rmq.WithPushSubscriptionExpressions(s.subscription()),
		rmq.WithPushMessageListener(&rmq.FuncMessageListener{Consume: listen}))
	require.NoError(t, err)
	s.starts("the push consumer", consumer.Start)
	s.env.Closes("the push consumer", func() { _ = consumer.GracefulStop() })
}

// simple starts a simple consumer, which polls for a second.
func (s *scene) simple(t *testing.T, endpoint, group string) rmq.SimpleConsumer {
	t.Helper()
	consumer, err := rmq.NewSimpleConsumer(s.config(endpoint, group),
		rmq.WithSimpleSubscriptionExpressions(s.subscription()),
		rmq.WithSimpleAwaitDuration(shortPoll))
	require.NoError(t, err)
	s.starts("the simple consumer", consumer.Start)
	s.env.Closes("the simple consumer", func() { _ = consumer.GracefulStop() })
	return consumer
}

// starts bounds a start, which hangs where the proxy does not know the group.
func (s *scene) starts(name string, start func() error) {
	s.env.Within(name+" starts", 20*time.Second, testenv.AtOnce(func(context.Context) error { return start() }))
}
