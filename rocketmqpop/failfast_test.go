package rocketmqpop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

var failFast = testenv.Case{
	Name:   "rocketmqpop/fail-fast",
	Claim:  "competing pops of a group without order share out the messages, none twice within its invisible time, and none of them waits",
	Issue:  "https://github.com/apache/rocketmq/issues/10827",
	Client: underTest,
	Shares: true,
}

func TestCompetingPopsWithoutOrderDoNotWait(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, failFast)
	s := newScene(t, env, setting{normal: true})
	p := newPopper(t, s, s.broker.Endpoint())
	const messages = 200
	var numbersSent []int
	for n := range messages {
		numbersSent = append(numbersSent, n)
	}
	s.sends(p, numbersSent...)
	var all share
	env.Inject(testenv.Fault{
		Name: "many pop at once",
		Apply: func(ctx context.Context) error {
			var wait sync.WaitGroup
			for range rivals {
				wait.Go(func() { all.take(ctx, p, messages) })
			}
			wait.Wait()
			return all.errs
		},
		Bites: func(context.Context) error {
			if all.most < 2 {
				return errors.New("no two pops were under way at the same time")
			}
			return nil
		},
	})
	env.Evidence("slowest_pop_ms", int(all.slowest.Milliseconds()))
	env.Evidence("empty_answers", all.empty)
	env.Recovers("each message was delivered once", 15*time.Second, testenv.AtOnce(func(context.Context) error {
		slices.Sort(all.got)
		return same(numbersSent, all.got)
	}))
	env.Within("no pop waited", time.Second, testenv.AtOnce(func(context.Context) error {
		if all.slowest >= sharePoll {
			return fmt.Errorf("one took %v", all.slowest)
		}
		return nil
	}))
	env.Within("nothing is left", 5*time.Second, testenv.AtOnce(p.findsNothing))
}

// share is what rivals got between them.
type share struct {
	mu            sync.Mutex
	got           []int
	running, most int
	empty         int
	slowest       time.Duration
	errs          error
}

const (
	rivals = 16
	// sharePoll is longer than any pop should take while there are messages.
	sharePoll = 5 * time.Second
	// shareBatch is how many messages a pop may get.
	shareBatch = 4
)

// take pops four messages at a time, and acknowledges them, until all rivals
// together have as many as were sent.
func (s *share) take(ctx context.Context, p *popper, until int) {
	for {
		more, plenty := s.begins(until)
		if !more {
			return
		}
		began := time.Now()
		found, err := p.pop(ctx, popping{batch: shareBatch, wait: sharePoll})
		took := time.Since(began)
		if err == nil && len(found) > 0 {
			err = p.ack(ctx, found...)
		}
		s.mu.Lock()
		s.running--
		s.got = append(s.got, numbers(found)...)
		if len(found) == 0 {
			s.empty++
		}
		if len(found) > 0 || plenty {
			s.slowest = max(s.slowest, took)
		}
		s.errs = errors.Join(s.errs, err)
		s.mu.Unlock()
	}
}

// begins says whether a pop is still needed, and whether there is plenty: more than all
// pops under way can get, so that one has no reason to wait.
func (s *share) begins(until int) (more, plenty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := until - len(s.got)
	if left <= 0 || s.errs != nil {
		return false, false
	}
	s.running++
	s.most = max(s.most, s.running)
	return true, left > rivals*shareBatch
}
