package pulsarquota

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

var requestHold = testenv.Case{
	Name:   "pulsarquota/request-hold",
	Claim:  "with producer_request_hold no send is refused, and all of them complete once there is room",
	Client: underTest,
	Shares: true,
}

func TestHeldSendsCompleteOnceThereIsRoom(t *testing.T) {
	env := testenv.New(t, requestHold)
	s := newScene(t, env, "producer_request_hold", nil)
	options := promptly(producerOptions(s.topic))
	options.SendTimeout = -1 // none: a timeout is no outcome here
	producer := s.newProducer(t, options)
	all := newOutcomes()

	env.Within("the producer sends before the fault", 10*time.Second, sends(producer))
	quota := env.Inject(s.exceed(func(ctx context.Context) error {
		// Twice the quota goes in at once, before the broker looks.
		for range 2 * quotaSize / messageSize {
			all.sendAsync(env.Context(), producer)
		}
		return nil
	}))
	for range 5 {
		all.sendAsync(env.Context(), producer)
	}
	env.Holds("no send is refused, and some are held", env.ByProfile(3*time.Second, 60*time.Second), func(context.Context) error {
		if n := all.failed(); n > 0 {
			return fmt.Errorf("%d sends were refused", n)
		}
		if all.pending() == 0 {
			return errors.New("no send is held")
		}
		return nil
	})
	quota.Heal()
	env.Recovers("the held sends complete", 30*time.Second, all.settled)
	require.Zero(t, all.failed(), "sends that were refused")
}
