package rocketmqpop

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

// knownBadBroker is the broker of the incident.
const knownBadBroker = "5.5.0"

var contentionReproduces = testenv.Case{
	Name:   "rocketmqpop/contention-reproduces",
	Claim:  "broker 5.5.0 answers some of many concurrent retries with one attempt ID empty",
	Issue:  "https://github.com/apache/rocketmq/issues/10827",
	Client: underTest,
	Shares: true,
}

func TestRetriesOfOneAttemptAreAnsweredEmptyReproduces(t *testing.T) {
	t.Parallel()
	c := contend(t, contentionReproduces, setting{spec: testenv.RocketMQSpec{Version: knownBadBroker}})
	c.scene.env.Recovers("some retries were answered empty", 30*time.Second, testenv.AtOnce(func(context.Context) error {
		if c.empty == 0 {
			return fmt.Errorf("none of %d was", len(c.answers))
		}
		return nil
	}))
	c.finish()
}

var chainReproduces = testenv.Case{
	Name:   "rocketmqpop/lost-answer-collides-reproduces",
	Claim:  "on broker 5.5.0 the queue is blocked until the invisible time ends, and then goes on by itself",
	Issue:  "https://github.com/apache/rocketmq/issues/10827",
	Client: underTest,
	Shares: true,
}

func TestRetryAfterLostAnswerBlocksQueueReproduces(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, chainReproduces)
	c := newIncident(t, env, setting{spec: testenv.RocketMQSpec{Version: knownBadBroker}})
	env.Within("a colliding retry was answered empty", time.Second, testenv.AtOnce(func(context.Context) error {
		if c.empty == 0 {
			return fmt.Errorf("none of %d was", c.retries)
		}
		return nil
	}))
	// The client takes a new attempt ID now.
	env.Holds("the new attempts find nothing", 5*time.Second, c.popper.findsNothing)
	env.Recovers("the queue goes on when the invisible time is over", incidentInvisible+10*time.Second, c.popper.finds(popping{}, 0, 1))
	c.goesOn()
}
