package rocketmqpop

import (
	"context"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/brokerfault/brokerfault/testenv"
)

var renewal = testenv.Case{
	Name:   "rocketmqpop/renewal-blocks",
	Claim:  "with the proxy's automatic renewal a lost answer blocks the queue as long as its client is there, and not longer",
	Issue:  "https://github.com/apache/rocketmq/issues/10827",
	Client: underTest,
	Shares: true,
}

func TestRenewalBlocksQueueAsLongAsItsClientIsThere(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, renewal)
	s := newScene(t, env, setting{proxy: patientAndEager})
	p := newPopper(t, s, s.broker.Endpoint())
	other := newPopper(t, s, s.broker.Endpoint())
	s.sends(p, 0, 1)
	blocked := s.leave(p, popping{attempt: "lost", renewed: true}, 0, 1)
	blocked.Bites = other.findsNothing
	blocked.Heal = p.leaveGroup
	lost := env.Inject(blocked)
	// Without the renewal it would be over after 4 s, as the test below shows.
	env.Holds("the queue is blocked", env.ByProfile(10*time.Second, 3*time.Minute), other.findsNothing)
	lost.Heal()
	env.Recovers("the queue goes on", 15*time.Second, other.finds(popping{}, 0, 1))
	env.Within("all are consumed", 10*time.Second, s.allConsumed)
}

var withoutRenewal = testenv.Case{
	Name:   "rocketmqpop/no-renewal",
	Claim:  "without the renewal a lost answer blocks the queue for its invisible time, and not longer",
	Issue:  "https://github.com/apache/rocketmq/issues/10827",
	Client: underTest,
	Shares: true,
}

func TestLostAnswerBlocksQueueForItsInvisibleTimeOnly(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, withoutRenewal)
	s := newScene(t, env, setting{proxy: patientAndEager})
	p := newPopper(t, s, s.broker.Endpoint())
	s.sends(p, 0, 1)
	env.Inject(s.leave(p, popping{attempt: "lost", invisible: 4 * time.Second}, 0, 1))
	env.Recovers("the queue goes on", 8*time.Second, p.finds(popping{}, 0, 1))
	env.Within("all are consumed", 10*time.Second, s.allConsumed)
}

// leaveGroup tells the proxy that this client is no more.
func (p *popper) leaveGroup(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(p.signed(ctx), 10*time.Second)
	defer cancel()
	answer, err := p.client.NotifyClientTermination(ctx, &v2.NotifyClientTerminationRequest{Group: p.group})
	return refusal(answer.GetStatus(), err)
}
