package rocketmqpop

import (
	"context"
	"errors"
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

// logFile is the client's log. A process has one, so lines of tests that ran at
// the same time stand in it as well; each names its client.
var logFile string

func TestMain(m *testing.M) {
	testenv.SideBySide(3)
	// The client speaks TLS by default, which a relay could not read.
	rmq.EnableSsl = false
	dir, err := os.MkdirTemp("", "rocketmq-client-")
	if err != nil {
		panic(err)
	}
	logFile = filepath.Join(dir, "client.log")
	err = errors.Join(os.Setenv("rocketmq.client.logRoot", dir), os.Setenv("rocketmq.client.logFileName", "client.log"))
	if err != nil {
		panic(err)
	}
	rmq.ResetLogger()
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// keepLog puts the client's log from here on into the evidence.
func (s *scene) keepLog() {
	var from int64
	if info, err := os.Stat(logFile); err == nil {
		from = info.Size()
	}
	s.env.Closes("the client's log", func() {
		text, err := os.ReadFile(logFile)
		if err != nil || int64(len(text)) < from {
			s.env.Note("there is no log of the client: %v", err)
			return
		}
		_, _ = s.env.Log("client").Write(text[from:])
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
