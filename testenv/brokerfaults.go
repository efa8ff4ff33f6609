package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// Kill is the fault of a broker whose nodes all end at once (SIGKILL). It heals by
// starting them again, with their data and at the same client addresses.
func (b *Broker) Kill() Fault {
	return Fault{
		Name: b.name + " is killed",
		Apply: func(ctx context.Context) error {
			var errs error
			for _, n := range slices.Backward(b.nodes) {
				errs = errors.Join(errs, n.Kill(ctx))
				b.env.timeline.Add("broker", "%s is killed", n.Name())
			}
			return errs
		},
		Bites:      b.gone,
		Heal:       AtOnce(b.start),
		harms:      b.plan.resents,
		forTheTest: true,
	}
}

// Stop is the fault of a broker whose nodes end in an orderly way (SIGTERM), all told at
// once, and a ZooKeeper when its brokers have ended. It heals by starting them again, with
// their data and at the same client addresses. A node that takes longer than 20 s is
// killed, and the timeline says so.
func (b *Broker) Stop() Fault {
	return Fault{
		Name:        b.name + " is stopped",
		Apply:       b.stop,
		Bites:       b.gone,
		BitesWithin: 2*stopGrace + 30*time.Second,
		Heal:        AtOnce(b.start),
		harms:       b.plan.resents,
		forTheTest:  true,
	}
}

// Restart is a one-shot fault: the broker is stopped (SIGTERM), started again with
// its data, and ready when Inject returns.
func (b *Broker) Restart() Fault {
	wasGone := false
	return Fault{
		Name: b.name + " is restarted",
		Apply: func(ctx context.Context) error {
			if err := b.stop(ctx); err != nil {
				return err
			}
			if err := b.gone(ctx); err != nil {
				return err
			}
			wasGone = true
			return b.start(ctx)
		},
		Bites: func(ctx context.Context) error {
			if !wasGone {
				return fmt.Errorf("%s was never gone", b.name)
			}
			return b.ready(ctx)
		},
		BitesWithin: readyLimit + 2*stopGrace,
		harms:       b.plan.resents,
	}
}

// Pause is the fault of a broker that hangs: its nodes are frozen, their
// connections stay open. It heals by letting them go on.
func (b *Broker) Pause() Fault {
	return Fault{
		Name: b.name + " is paused",
		Apply: func(ctx context.Context) error {
			var errs error
			for _, n := range b.nodes {
				errs = errors.Join(errs, n.Pause(ctx))
			}
			return errs
		},
		Bites: b.silent,
		harms: b.plan.resents,
		Heal: func(ctx context.Context) error {
			var errs error
			for _, n := range b.nodes {
				errs = errors.Join(errs, n.Resume(ctx))
			}
			return errs
		},
	}
}

// stop tells all nodes at once to end, as whoever shuts a machine down does: of peers told
// one after the other, the last would be left without the majority that it needs for it.
func (b *Broker) stop(ctx context.Context) error {
	for _, last := range []bool{false, true} {
		var told errgroup.Group
		for _, n := range b.nodes {
			if b.plan.node(n.Name()).StopsLast == last {
				told.Go(func() error { return b.stopNode(ctx, n) })
			}
		}
		if err := told.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (b *Broker) stopNode(ctx context.Context, n runtime.Node) error {
	grace, cancel := context.WithTimeout(ctx, b.env.scaled(stopGrace))
	defer cancel()
	if err := n.Stop(grace); err != nil {
		return err
	}
	b.env.timeline.Add("broker", "%s is stopped", n.Name())
	if grace.Err() != nil {
		b.env.say("broker", "%s did not end within %v after SIGTERM and was killed", n.Name(), b.env.scaled(stopGrace))
	}
	return nil
}

// gone succeeds if connections are refused or reset at every port that has a handshake.
func (b *Broker) gone(ctx context.Context) error {
	return b.deaf(ctx, wasRefused)
}

// silent succeeds if connections are taken there but nothing answers.
func (b *Broker) silent(ctx context.Context) error {
	return b.deaf(ctx, wasUnanswered)
}

// deaf wants what came of every handshake to be that symptom.
func (b *Broker) deaf(ctx context.Context, symptom func(name string, came error) error) error {
	ctx, cancel := context.WithTimeout(ctx, b.env.scaled(silentFor))
	defer cancel()
	all := b.greets(ctx)
	if len(all) == 0 {
		return fmt.Errorf("%s has no port at which the fault could be proven", b.name)
	}
	for _, err := range all {
		if err := symptom(b.name, err); err != nil {
			return err
		}
	}
	return nil
}

// wasRefused wants a handshake with name to have been refused or reset.
func wasRefused(name string, came error) error {
	switch {
	case came == nil:
		return fmt.Errorf("%s still answers", name)
	case timedOut(came):
		return fmt.Errorf("%s is silent, not gone: %w", name, came)
	case !slices.ContainsFunc(refusals, func(r error) bool { return errors.Is(came, r) }):
		return fmt.Errorf("%s was not seen to be gone: %w", name, came)
	}
	return nil
}

// refusals are how a connection comes to its end, or to nothing, where nobody listens.
var refusals = []error{
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF, runtime.ErrNotRunning,
}

// wasUnanswered wants a handshake with name to have found a connection and no answer.
func wasUnanswered(name string, came error) error {
	switch {
	case came == nil:
		return fmt.Errorf("%s still answers", name)
	case !timedOut(came):
		return fmt.Errorf("%s is gone, not silent: %w", name, came)
	}
	return nil
}

func timedOut(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}
