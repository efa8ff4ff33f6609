package testenv

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

// Change is what a broker is started with anew. Both fields are on top of what the
// broker was started with first, not of an earlier change.
type Change struct {
	// Version is another version; empty is the same.
	Version string
	// Config are settings of the broker's own file; one with an empty value is left out.
	Config map[string]string
}

// String says it in words: "version 4.4.0 and auto.create.topics.enable=true".
func (c Change) String() string {
	var words []string
	if c.Version != "" {
		words = append(words, "version "+c.Version)
	}
	for _, key := range slices.Sorted(maps.Keys(c.Config)) {
		words = append(words, key+"="+c.Config[key])
	}
	return strings.Join(words, " and ")
}

// on puts the change's settings on top of others.
func (c Change) on(config map[string]string) map[string]string {
	all := maps.Clone(config)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, c.Config)
	return all
}

// RestartWith is a one-shot fault: the broker is stopped (SIGTERM) and started again with
// another version or configuration, on its data and at the same client addresses, and is
// ready when Inject returns. It bites if the broker itself tells the version and the
// settings that were asked for; one that is left out is not looked for. At one node of
// many (Kafka's Node) it is a step of a rolling upgrade.
//
// It is refused where the other version would have other nodes or ports, as Kafka with
// and without a ZooKeeper. Whether it can read the data is the broker's own matter: if it
// does not come up, the verdict is environment, with its last words.
func (b *Broker) RestartWith(c Change) Fault {
	logs := map[string]int64{}
	return Fault{
		Name: b.name + " is restarted with " + c.String(),
		Apply: func(ctx context.Context) error {
			next, err := b.changed(c)
			if err != nil {
				return err
			}
			if err := b.fetch(ctx, next); err != nil {
				return err
			}
			if err := b.stop(ctx); err != nil {
				return err
			}
			if err := b.gone(ctx); err != nil {
				return err
			}
			for _, n := range b.nodes {
				logs[n.LogFile()] = size(n.LogFile())
				if err := n.Become(ctx, next[n.Name()], b.prepares); err != nil {
					return err
				}
			}
			return b.start(ctx)
		},
		Bites: func(ctx context.Context) error {
			if len(logs) == 0 {
				return Stop(fmt.Errorf("%s was not started anew", b.name))
			}
			// It has started, so what it tells now it tells for good.
			return AtOnce(func(ctx context.Context) error {
				if _, err := poll.Until(ctx, poll.Options{Budget: b.env.scaled(readyLimit)}, poll.Probe(b.ready)); err != nil {
					return err
				}
				return b.plan.tells(ctx, b, c, logs)
			})(ctx)
		},
		// Jars may have to be got.
		harms:       true,
		BitesWithin: placeLimit + readyLimit + 2*stopGrace,
	}
}

// changed is what the nodes would be after the change, or why they cannot be that.
func (b *Broker) changed(c Change) (map[string]broker.Node, error) {
	if c.Version == "" && len(c.Config) == 0 {
		return nil, errors.New("the change has neither a version nor settings: take Restart")
	}
	if b.plan.with == nil {
		return nil, fmt.Errorf("%s cannot be started with something else", b.name)
	}
	next, err := b.plan.with(c)
	if err != nil {
		return nil, err
	}
	if next.fits != nil {
		if err := next.fits(b.env.runtime); err != nil {
			return nil, err
		}
	}
	if now, then := nodeNames(b.plan), nodeNames(next); !slices.Equal(now, then) {
		return nil, fmt.Errorf("%s %s consists of %v, and %s of %v: it cannot go on with the same data",
			b.plan.name, b.plan.version, now, next.version, then)
	}
	nodes := map[string]broker.Node{}
	for _, n := range next.nodes {
		nodes[n.Name] = n
	}
	return nodes, nil
}

func nodeNames(p plan) []string {
	var all []string
	for _, n := range p.nodes {
		all = append(all, n.Name)
	}
	return all
}

// fetch makes jars and images ready, so that the broker is not away while they are got.
func (b *Broker) fetch(ctx context.Context, next map[string]broker.Node) error {
	ctx, cancel := context.WithTimeout(ctx, placeLimit)
	defer cancel()
	for _, n := range b.nodes {
		if err := n.Fetch(ctx, next[n.Name()].Bill, b.prepares); err != nil {
			return err
		}
	}
	return nil
}

func (b *Broker) prepares(format string, args ...any) { b.env.say("prepare", format, args...) }

// loggedVersion wants the version in a log, from an offset on: the broker tells it in the
// group of a pattern when it starts.
func loggedVersion(ctx context.Context, log string, from int64, tells func(text string) string, want string) error {
	_, err := poll.Until(ctx, poll.Options{Budget: wireLimit}, func(context.Context) error {
		text, err := readFrom(log, from)
		if err != nil {
			return err
		}
		switch got := tells(text); got {
		case want:
			return nil
		case "":
			return fmt.Errorf("its log tells no version since its start")
		default:
			return Stop(fmt.Errorf("its log tells the version %q, not %q", got, want))
		}
	})
	return err
}

// configured wants these settings among those that a broker tells.
func configured(want, got map[string]string) error {
	var errs error
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if want[key] != "" && want[key] != got[key] {
			errs = errors.Join(errs, fmt.Errorf("it has %s=%q, not %q", key, got[key], want[key]))
		}
	}
	return errs
}
