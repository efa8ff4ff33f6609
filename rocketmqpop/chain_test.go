package rocketmqpop

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

var chain = testenv.Case{
	Name:   "rocketmqpop/lost-answer-collides",
	Claim:  "a queue whose pop's answer was lost is not blocked, however many retries collide",
	Issue:  "https://github.com/apache/rocketmq/issues/10827",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Broker: "5.5.0", Evidence: "a retry that collides is answered empty, the next attempt finds nothing until the invisible time ends"},
	},
	KnownGood: []testenv.Combination{{Broker: "5.5.1"}},
}

func TestRetryAfterLostAnswerUnblocksQueue(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, chain)
	c := newIncident(t, env, setting{})
	c.witnessRetries()
	env.Recovers("the retry finds the lost messages", 5*time.Second, testenv.AtOnce(func(context.Context) error {
		if c.empty > 0 {
			return fmt.Errorf("%d of %d colliding retries were answered empty, so the client takes a new attempt ID", c.empty, c.retries)
		}
		return nil
	}))
	env.Within("the lost messages are acknowledged", 5*time.Second, testenv.AtOnce(c.popper.finds(popping{attempt: "lost"}, 0, 1)))
	c.goesOn()
}

// incident is the chain up to the collision.
type incident struct {
	*scene
	popper         *popper
	retries, empty int
}

// incidentInvisible is how long the lost messages stay invisible.
const incidentInvisible = 10 * time.Second

// newIncident loses the answer to a pop, and lets its retries collide until one of
// them is answered empty, or there were a thousand.
func newIncident(t *testing.T, env *testenv.Env, o setting) *incident {
	t.Helper()
	s := newScene(t, env, o)
	relay := s.broker.Relay()
	c := &incident{scene: s, popper: newPopper(t, s, s.broker.Endpoint())}
	lossy := newPopper(t, s, relay.Address())
	s.sends(c.popper, 0, 1)
	lost := popping{attempt: "lost", invisible: incidentInvisible}
	env.Inject(relay.Fault("the answer to a pop is lost",
		&testenv.RelayRule{Method: receiveMethod, Matches: hasMessages, Swallow: true},
		func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 2*shortPoll)
			defer cancel()
			if got, err := lossy.pop(ctx, lost); err == nil {
				return fmt.Errorf("the answer was not lost: %v", numbers(got))
			}
			return nil
		}))
	env.Inject(testenv.Fault{
		Name: "retries collide",
		Apply: func(ctx context.Context) error {
			for c.retries < 1000 && c.empty == 0 {
				round := &contest{scene: s, popper: c.popper, popping: lost}
				round.round(ctx, 200)
				c.retries, c.empty = c.retries+len(round.answers), c.empty+round.empty
				if round.unanswered > 0 {
					return fmt.Errorf("%d retries were not answered", round.unanswered)
				}
				if round.errs != nil {
					return round.errs
				}
			}
			return nil
		},
		Bites: func(context.Context) error {
			if c.retries == 0 {
				return errors.New("nobody retried")
			}
			return nil
		},
	})
	env.Evidence("retries", c.retries)
	env.Evidence("empty_answers", c.empty)
	return c
}

// goesOn is a queue that is as good as new.
func (c *incident) goesOn() {
	c.sends(c.popper, 2, 3)
	c.env.Within("what comes after it is found, in order", 10*time.Second, c.popper.finds(popping{}, 2, 3))
	c.env.Within("all are consumed", 10*time.Second, c.allConsumed)
}
