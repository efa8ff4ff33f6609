package pulsarquota

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokerfault/brokerfault/testenv"
)

var fiveRounds = testenv.Case{
	Name:   "pulsarquota/five-rounds",
	Claim:  "block, clear, recover five times over never ends dead, and costs no goroutine and no send permit",
	Issue:  "https://github.com/apache/pulsar-client-go/pull/1457",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Client: "v0.18.0", Evidence: "dead after the first of five rounds: not recovered in 15 s, stop_reconnecting 1; a fresh producer sends"},
	},
}

// maxPending is small, so that one lost permit shows.
const maxPending = 4

func TestProducerIsAliveAfterFiveBlocks(t *testing.T) {
	env := testenv.New(t, fiveRounds)
	s := newScene(t, env, "producer_exception", nil)
	options := promptly(producerOptions(s.topic))
	options.MaxPendingMessages = maxPending
	options.DisableBlockIfQueueFull = true
	producer := s.newProducer(t, options)
	env.Counts("client", countsOfIncident)

	env.Within("the producer sends before the fault", 10*time.Second, sends(producer))
	goroutines := 0
	for round := range 5 {
		quota := env.Inject(s.fillBacklog(burst(producer, messageSize)))
		quota.Heal()
		env.Recovers("the same producer sends again", 15*time.Second, sends(producer))
		env.Within("every send permit is free", 5*time.Second, burst(producer, 1))
		if round == 0 {
			env.Within("what the first round set going has ended", 5*time.Second, testenv.AtOnce(func(ctx context.Context) (err error) {
				goroutines, err = fewestGoroutines(ctx)
				return err
			}))
		}
	}
	env.Evidence("goroutines_after_one_round", goroutines)
	env.Evidence("goroutines_after_five_rounds", runtime.NumGoroutine())
	env.Within("no goroutine is left of four more rounds", 10*time.Second, func(context.Context) error {
		// One of them is this probe's.
		if n := runtime.NumGoroutine() - 1; n > goroutines {
			return fmt.Errorf("%d goroutines, %d after the first round", n, goroutines)
		}
		return nil
	})
}

// fewestGoroutines is their least number within a second.
func fewestGoroutines(ctx context.Context) (int, error) {
	least := runtime.NumGoroutine()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		select {
		case <-tick.C:
			least = min(least, runtime.NumGoroutine())
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	return least, nil
}

// burst is the probe "as many sends at once as there are permits all
// succeed"; one lost permit makes the last of them fail with "queue is full".
func burst(p pulsar.Producer, size int) testenv.Probe {
	return func(ctx context.Context) error {
		var (
			mu   sync.Mutex
			errs error
			wait sync.WaitGroup
		)
		for range maxPending {
			wait.Add(1)
			p.SendAsync(ctx, &pulsar.ProducerMessage{Payload: make([]byte, size)},
				func(_ pulsar.MessageID, _ *pulsar.ProducerMessage, err error) {
					defer wait.Done()
					mu.Lock()
					defer mu.Unlock()
					errs = errors.Join(errs, err)
				})
		}
		wait.Wait()
		return errs
	}
}
