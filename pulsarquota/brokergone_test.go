package pulsarquota

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

var killedWhileBlocked = testenv.Case{
	Name:   "pulsarquota/killed-while-blocked",
	Claim:  "a producer that is blocked while the broker is killed and comes back sends again after the clearing",
	Issue:  "https://github.com/apache/pulsar-client-go/pull/1457",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Client: "v0.18.0", Evidence: "not recovered in 30 s after the clearing, stop_reconnecting 1, will_retry_reconnecting 0; a fresh producer sends"},
	},
}

func TestBlockedProducerHealsAfterBrokerWasKilled(t *testing.T) {
	env := testenv.New(t, killedWhileBlocked)
	s := newScene(t, env, "producer_exception", nil)
	producer := s.newProducer(t, promptly(producerOptions(s.topic)))
	env.Counts("client", countsOfIncident)

	env.Within("the producer sends before the fault", 10*time.Second, sends(producer))
	quota := env.Inject(s.fillBacklog(sends(producer)))
	killed := env.Inject(s.broker.Kill())
	killed.Heal()
	env.Within("the broker is back and still over its quota", 10*time.Second, s.refusedByBroker(quotaSize, 0))
	env.Holds("sends still fail", env.ByProfile(3*time.Second, 30*time.Second), refused(producer))
	quota.Heal()
	env.Recovers("the same producer sends again", 30*time.Second, sends(producer))
	s.goesOnSending(producer)
}

var closesWhileBlocked = testenv.Case{
	Name:   "pulsarquota/close-while-blocked",
	Claim:  "Flush and Close return within a bound while the producer is blocked",
	Client: underTest,
	Shares: true,
}

func TestFlushAndCloseReturnWhileBlocked(t *testing.T) {
	env := testenv.New(t, closesWhileBlocked)
	s := newScene(t, env, "producer_exception", nil)
	producer := s.newProducer(t, promptly(producerOptions(s.topic)))

	env.Within("the producer sends before the fault", 10*time.Second, sends(producer))
	quota := env.Inject(s.fillBacklog(sends(producer)))
	flushAndClose(env, producer)
	quota.Heal()
	env.Recovers("a fresh producer sends", 30*time.Second, s.freshProducerSends)
}

var closesWhileGone = testenv.Case{
	Name:   "pulsarquota/close-while-gone",
	Claim:  "Flush and Close return within a bound while a blocked producer's broker is gone",
	Issue:  "https://github.com/apache/pulsar-client-go/issues/1190",
	Client: underTest,
	Shares: true,
}

func TestFlushAndCloseReturnWhileBrokerIsGone(t *testing.T) {
	env := testenv.New(t, closesWhileGone)
	s := newScene(t, env, "producer_exception", nil)
	client, err := newClient(env, s.broker, "client")
	require.NoError(t, err)
	closeClient := sync.OnceFunc(client.Close)
	env.Closes("the client", closeClient)
	producer, err := client.CreateProducer(promptly(producerOptions(s.topic)))
	require.NoError(t, err)

	env.Within("the producer sends before the fault", 10*time.Second, sends(producer))
	quota := env.Inject(s.fillBacklog(sends(producer)))
	killed := env.Inject(s.broker.Kill())
	flushAndClose(env, producer)
	env.Within("the client's Close returns", closeBudget, testenv.AtOnce(returns(closeClient)))
	killed.Heal()
	quota.Heal()
	env.Recovers("a fresh producer sends", 30*time.Second, s.freshProducerSends)
}

// closeBudget leaves room for one request that is waited for in vain (OperationTimeout, 5 s).
const closeBudget = 10 * time.Second

// flushAndClose holds a send pending, and proves that both calls return, whatever they return.
func flushAndClose(env *testenv.Env, producer pulsar.Producer) {
	all := newOutcomes()
	all.sendAsync(env.Context(), producer)
	env.Within("Flush returns", closeBudget, func(ctx context.Context) error {
		_ = flush(ctx, producer)
		return ctx.Err()
	})
	all.sendAsync(env.Context(), producer)
	env.Within("Close returns", closeBudget, testenv.AtOnce(returns(producer.Close)))
	env.Within("the pending sends have their answers", closeBudget, all.settled)
}

// flush is FlushWithCtx, and Flush where a release before v0.13.0 has no other.
func flush(ctx context.Context, producer pulsar.Producer) error {
	if p, ok := producer.(interface {
		FlushWithCtx(ctx context.Context) error
	}); ok {
		return p.FlushWithCtx(ctx)
	}
	return producer.Flush() //nolint:staticcheck // deprecated since there is FlushWithCtx
}

// returns is the probe of a call that has no result but its end.
func returns(call func()) testenv.Probe {
	return func(context.Context) error {
		call()
		return nil
	}
}
