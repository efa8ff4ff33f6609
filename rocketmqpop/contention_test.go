package rocketmqpop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/brokerfault/brokerfault/testenv"
)

var contention = testenv.Case{
	Name:   "rocketmqpop/contention",
	Claim:  "of many concurrent retries with one attempt ID none is answered empty, and all find the same messages",
	Issue:  "https://github.com/apache/rocketmq/issues/10827",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Broker: "5.5.0", Evidence: "428 and 598 of 1080 retries were answered empty, in five rounds of 16 and five of 200 at a time"},
		{Broker: "5.4.0", Evidence: "593 of 1080 retries were answered empty"},
	},
	KnownGood: []testenv.Combination{{Broker: "5.5.1"}},
}

const noneEmpty = "no retry is answered empty"

func TestRetriesOfOneAttemptAreNeverAnsweredEmpty(t *testing.T) {
	t.Parallel()
	c := contend(t, contention, setting{})
	c.scene.witnessRetries()
	c.scene.env.Recovers(noneEmpty, 30*time.Second, testenv.AtOnce(c.check))
	c.finish()
}

// contest is what came of concurrent retries.
type contest struct {
	scene   *scene
	popper  *popper
	popping popping
	answers [][]*v2.Message
	empty   int
	// unanswered is how many had no answer ten seconds after the end of their poll.
	unanswered int
	most       int // at once
	errs       error
}

// retryRounds is how often so many retry at the same time. 16 is what the fix's
// own check took; a fast machine collides only with more.
var retryRounds = []struct{ rounds, atOnce int }{{5, 16}, {5, 200}}

// contend pops two messages and then retries.
func contend(t *testing.T, k testenv.Case, o setting) *contest {
	t.Helper()
	env := testenv.New(t, k)
	s := newScene(t, env, o)
	c := &contest{scene: s, popper: newPopper(t, s, s.broker.Endpoint()), popping: popping{attempt: "lost"}}
	env.Within("two messages are sent", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error { return c.popper.send(ctx, 0, 1) }))
	env.Inject(s.leave(c.popper, popping{attempt: "lost"}, 0, 1))
	env.Inject(testenv.Fault{
		Name: "many retry at once",
		Apply: func(ctx context.Context) error {
			for _, r := range retryRounds {
				for range r.rounds {
					c.round(ctx, r.atOnce)
				}
			}
			return c.errs
		},
		Bites: func(context.Context) error {
			if c.most < 2 {
				return errors.New("no two retries were under way at the same time")
			}
			return nil
		},
		BitesWithin: 2 * time.Minute, // ample for rounds with retries that are not answered
	})
	env.Evidence("retries", len(c.answers))
	env.Evidence("empty_answers", c.empty)
	env.Evidence("unanswered", c.unanswered)
	return c
}

// witnessLasts is long enough for a broker whose retries collide: of five rounds of 200 on
// 5.4.0 without PopKv, none did once, and 324 of 1080 before and after that.
const witnessLasts = 8 * time.Second

// witnessRetries has a fresh client for a witness that retries in the same way, until a
// retry collides.
func (s *scene) witnessRetries() {
	s.env.Witness("no retry of a fresh client is answered empty", testenv.AtOnce(func(ctx context.Context) error {
		p, err := dialPopper(ctx, s, s.broker.Endpoint())
		if err != nil {
			return err
		}
		defer p.close()
		c := &contest{scene: s, popper: p, popping: popping{attempt: "lost"}}
		for began := time.Now(); c.empty == 0 && time.Since(began) < witnessLasts; {
			c.round(ctx, 200)
		}
		return errors.Join(c.errs, c.check(ctx))
	}))
}

// round sends this many retries at once, and waits for their answers.
func (c *contest) round(ctx context.Context, atOnce int) {
	var (
		all     sync.WaitGroup
		start   = make(chan struct{})
		mu      sync.Mutex
		running int
	)
	for range atOnce {
		all.Go(func() {
			<-start
			mu.Lock()
			running++
			c.most = max(c.most, running)
			mu.Unlock()
			got, err := c.popper.pop(ctx, c.popping)
			mu.Lock()
			defer mu.Unlock()
			running--
			c.answers = append(c.answers, got)
			switch {
			case status.Code(err) == codes.DeadlineExceeded:
				c.unanswered++
			case err != nil:
				c.errs = errors.Join(c.errs, err)
			case len(got) == 0:
				c.empty++
			}
		})
	}
	close(start)
	all.Wait()
}

// check wants the same messages in every answer, still in their first delivery.
func (c *contest) check(context.Context) error {
	if c.empty > 0 {
		return fmt.Errorf("%d of %d retries with one attempt ID were answered empty", c.empty, len(c.answers))
	}
	if c.unanswered > 0 {
		return fmt.Errorf("%d of %d retries with one attempt ID were not answered", c.unanswered, len(c.answers))
	}
	for _, got := range c.answers {
		if err := onceDelivered(got, 0, 1); err != nil {
			return err
		}
	}
	return nil
}

// finish acknowledges with the newest handles, and sees the queue go on.
func (c *contest) finish() {
	env, p := c.scene.env, c.popper
	env.Within("the retries' messages are acknowledged", 10*time.Second, func(ctx context.Context) error {
		got, err := p.pop(ctx, popping{attempt: "lost"})
		if err != nil {
			return err
		}
		if !slices.Equal(numbers(got), []int{0, 1}) {
			return fmt.Errorf("a retry found %v", numbers(got))
		}
		return p.ack(ctx, got...)
	})
	env.Within("one more is sent", 5*time.Second, testenv.AtOnce(func(ctx context.Context) error { return p.send(ctx, 2) }))
	env.Within("a new attempt finds it", 10*time.Second, p.finds(popping{}, 2))
	env.Within("all are consumed", 10*time.Second, c.scene.allConsumed)
}
