package kafkatxn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

// underTest is the client of this package.
var underTest = testenv.Client{Module: "github.com/twmb/franz-go", Symbol: kgo.NewClient}

// transactionTimeout is how long the coordinator lets a transaction be open, where a
// test wants to see that end. The brokers look for such transactions every second.
const transactionTimeout = 3 * time.Second

// client makes a client that logs into the evidence and is closed at the end.
func (s *scene) client(name string, options ...kgo.Opt) *kgo.Client {
	c, err := kgo.NewClient(s.options(name, options...)...)
	require.NoError(s.t, err)
	s.env.Closes(name, c.CloseAllowingRebalance)
	return c
}

func (s *scene) options(name string, more ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{
		kgo.SeedBrokers(s.kafka.Addresses()...),
		kgo.WithLogger(logger(s.env.Log(name))),
		kgo.DefaultProduceTopic(s.orders),
	}, more...)
}

func logger(out io.Writer) kgo.Logger {
	return kgo.BasicLogger(out, kgo.LogLevelInfo, func() string { return time.Now().Format(time.RFC3339Nano) + " " })
}

// transactional are the options of a producer with a transactional ID.
func (s *scene) transactional(id string, timeout time.Duration) []kgo.Opt {
	return []kgo.Opt{kgo.TransactionalID(s.id(id)), kgo.TransactionTimeout(timeout)}
}

// record is one for the topic orders.
func record(value string) *kgo.Record { return kgo.StringRecord(value) }

// produces is the probe "a record outside of any transaction is stored".
func produces(c *kgo.Client, value string) testenv.Probe {
	return func(ctx context.Context) error { return c.ProduceSync(ctx, record(value)).FirstErr() }
}

// opens begins a transaction and stores records in it, which it leaves open.
func opens(ctx context.Context, c *kgo.Client, values ...string) error {
	if err := c.BeginTransaction(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	for _, value := range values {
		if err := c.ProduceSync(ctx, record(value)).FirstErr(); err != nil {
			return fmt.Errorf("produce in a transaction: %w", err)
		}
	}
	return nil
}

// commits is the probe "a transaction with these records is committed". What fails
// on the way is aborted, so that it can be tried again with the same client.
func commits(c *kgo.Client, values ...string) testenv.Probe {
	return func(ctx context.Context) error {
		err := opens(ctx, c, values...)
		if err == nil {
			err = c.EndTransaction(ctx, kgo.TryCommit)
		}
		if err == nil {
			return nil
		}
		if undone := aborts(ctx, c); undone != nil {
			return errors.Join(err, fmt.Errorf("abort: %w", undone))
		}
		return err
	}
}

// aborts ends a transaction and throws away what is not yet sent.
func aborts(ctx context.Context, c *kgo.Client) error {
	if err := c.AbortBufferedRecords(ctx); err != nil {
		return err
	}
	return c.EndTransaction(ctx, kgo.TryAbort)
}
