package kafkatxn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

const (
	input, output = "input", "output"
	// perBatch is how many records are fed at once, and at most taken into a transaction.
	perBatch = 100
	// ahead is how many records the feeder may be ahead of the pipeline.
	ahead = 2000
)

// pipeline consumes input, and produces each record to output, in transactions.
type pipeline struct {
	*scene
	fed      atomic.Int64
	feeding  atomic.Bool
	fedOut   atomic.Bool // the feeder has ended
	failed   atomic.Pointer[error]
	sessions atomic.Int64
	aborted  atomic.Int64

	mu   sync.Mutex
	seen map[string]int // what a read_committed consumer has read of output, and how often
}

func (s *scene) pipeline() *pipeline {
	p := &pipeline{scene: s, seen: map[string]int{}}
	s.createTopic(input, 3)
	s.createTopic(output, 3)
	p.feeding.Store(true)
	// These two are not under test, and wait no longer for a broker that hangs than they have to.
	feeder := s.client("feeder", kgo.DefaultProduceTopic(input),
		kgo.ProduceRequestTimeout(3*time.Second), kgo.RequestTimeoutOverhead(2*time.Second))
	checker := s.client("checker", kgo.ConsumeTopics(output), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(time.Second), kgo.RequestTimeoutOverhead(2*time.Second))
	s.env.Go(func(ctx context.Context) { p.feed(ctx, feeder) })
	s.env.Go(p.transform)
	s.env.Go(func(ctx context.Context) {
		for ctx.Err() == nil {
			p.check(checker.PollFetches(ctx))
		}
	})
	return p
}

// feed numbers records as long as it is to go on, not far ahead of the pipeline.
func (p *pipeline) feed(ctx context.Context, c *kgo.Client) {
	defer p.fedOut.Store(true)
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for p.feeding.Load() {
		if p.fed.Load()-int64(p.distinct()) < ahead {
			batch := make([]*kgo.Record, perBatch)
			for i := range batch {
				batch[i] = kgo.StringRecord(strconv.FormatInt(p.fed.Load()+int64(i), 10))
			}
			if err := c.ProduceSync(ctx, batch...).FirstErr(); err != nil {
				err = fmt.Errorf("feed the pipeline: %w", err)
				p.failed.Store(&err)
				return
			}
			p.fed.Add(perBatch)
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
}

// transform runs sessions. One that fails is replaced by a new one with the same
// transactional ID, as the client's documentation asks for.
func (p *pipeline) transform(ctx context.Context) {
	for ctx.Err() == nil {
		p.sessions.Add(1)
		if err := p.session(ctx); err != nil && ctx.Err() == nil {
			p.env.Note("a session ended: %v", err)
		}
	}
}

func (p *pipeline) session(ctx context.Context) error {
	s, err := kgo.NewGroupTransactSession(p.options("session",
		kgo.TransactionalID("pipeline"), kgo.TransactionTimeout(30*time.Second),
		kgo.ConsumerGroup("pipeline"), kgo.ConsumeTopics(input), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(500*time.Millisecond), kgo.RequestTimeoutOverhead(2*time.Second),
		// It asks a coordinator that hangs for that long, 30 s by default, also when another
		// broker has taken over.
		kgo.RetryTimeout(10*time.Second),
		// A JoinGroup to such a coordinator is waited for that long, 60 s by default, and with
		// it the closing of the session.
		kgo.RebalanceTimeout(6*time.Second),
		kgo.RetryBackoffFn(promptly),
	)...)
	if err != nil {
		return fmt.Errorf("make a session: %w", err)
	}
	defer s.Client().CloseAllowingRebalance()
	for ctx.Err() == nil {
		f := s.PollRecords(ctx, perBatch)
		if f.NumRecords() == 0 {
			continue
		}
		if err := s.Begin(); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		var lost error
		f.EachRecord(func(r *kgo.Record) {
			s.Produce(ctx, &kgo.Record{Topic: output, Value: r.Value}, func(_ *kgo.Record, err error) {
				if err != nil {
					lost = err // End waits for all of these
				}
			})
		})
		// A failed record is known only after a flush.
		if err := s.Client().Flush(ctx); err != nil {
			return fmt.Errorf("flush: %w", err)
		}
		done, err := s.End(ctx, kgo.TransactionEndTry(lost == nil))
		if err != nil {
			return fmt.Errorf("end: %w", errors.Join(err, lost))
		}
		if !done {
			p.aborted.Add(1)
		}
	}
	return nil
}

func (p *pipeline) check(f kgo.Fetches) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.EachRecord(func(r *kgo.Record) { p.seen[string(r.Value)]++ })
}

func (p *pipeline) distinct() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seen)
}

// reaches succeeds once so many different records have come out of the pipeline.
func (p *pipeline) reaches(want int) testenv.Probe {
	return func(context.Context) error {
		if err := p.failed.Load(); err != nil {
			return testenv.Stop(*err)
		}
		if got := p.distinct(); got < want {
			return fmt.Errorf("%d of %d records have come out, %d were fed", got, want, p.fed.Load())
		}
		return nil
	}
}

// exactlyOnce succeeds if every record that was fed has come out, once.
func (p *pipeline) exactlyOnce(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.fedOut.Load() {
		return errors.New("the feeder has not ended")
	}
	for value, times := range p.seen {
		if times != 1 {
			return testenv.Stop(fmt.Errorf("record %s has come out %d times", value, times))
		}
	}
	if int64(len(p.seen)) != p.fed.Load() {
		return fmt.Errorf("%d records have come out of %d that were fed", len(p.seen), p.fed.Load())
	}
	return nil
}
