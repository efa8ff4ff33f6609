package testenv

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"path"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/brokerfault/brokerfault/testenv/internal/link"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

// linkFault is what can be done to links.
type linkFault struct {
	// kind is what a link can have once only: two of a kind would weaken each other, the
	// one that heals first.
	kind string
	// check, if it is not nil, says what cannot be done at all.
	check func() error
	// prepare, if it is not nil, is done at each link before it is hurt.
	prepare func(ctx context.Context, at linkPort) error
	// lay does it to a link, and lift undoes it.
	lay, lift func(l *link.Link)
	// bites proves it at one link. The links are asked at the same time.
	bites func(ctx context.Context, at linkPort) error
}

// linkPort is a link, and what makes a client's first round trip through it.
type linkPort struct {
	name  string
	link  *link.Link
	greet greeting
}

// laid are the faults that lie on the links of an Env.
type laid struct {
	lock sync.Mutex
	by   map[*link.Link]map[string]bool // link and kind
}

// take books a kind of fault of all these links, or of none.
func (l *laid) take(ports []linkPort, kind string) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, at := range ports {
		if l.by[at.link][kind] {
			return fmt.Errorf("the link to %s has such a fault already (%s): heal that one first", at.name, kind)
		}
	}
	for _, at := range ports {
		if l.by == nil {
			l.by = map[*link.Link]map[string]bool{}
		}
		if l.by[at.link] == nil {
			l.by[at.link] = map[string]bool{}
		}
		l.by[at.link][kind] = true
	}
	return nil
}

func (l *laid) release(ports []linkPort, kind string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, at := range ports {
		delete(l.by[at.link], kind)
	}
}

// onLinks is the fault of all of the broker's links.
func (b *Broker) onLinks(name string, f linkFault) Fault {
	var lying []linkPort
	return Fault{
		Name: name,
		Apply: func(ctx context.Context) error {
			if f.check != nil {
				if err := f.check(); err != nil {
					return err
				}
			}
			ports, err := b.linkPorts()
			if err != nil {
				return err
			}
			if err := b.env.laid.take(ports, f.kind); err != nil {
				return err
			}
			lying = ports
			for _, at := range ports {
				if f.prepare == nil {
					continue
				}
				if err := f.prepare(ctx, at); err != nil {
					return err
				}
			}
			for _, at := range ports {
				f.lay(at.link)
			}
			return nil
		},
		Bites: func(ctx context.Context) error { return b.eachLink(ctx, f.bites) },
		Heal: func(context.Context) error {
			for _, at := range lying {
				f.lift(at.link)
			}
			b.env.laid.release(lying, f.kind)
			lying = nil
			return nil
		},
	}
}

// linkPorts are the broker's links in a fixed order. None, or one that cannot be
// greeted, is an error: nothing could be proven there.
func (b *Broker) linkPorts() ([]linkPort, error) {
	if len(b.links) == 0 {
		return nil, fmt.Errorf("%s has no port that clients use, so no link that could be hurt", b.name)
	}
	var all []linkPort
	for _, name := range slices.Sorted(maps.Keys(b.links)) {
		greet := b.plan.greet[path.Base(name)]
		if greet == nil {
			return nil, fmt.Errorf("%s has no port at which the fault could be proven: %s has no handshake", b.name, name)
		}
		all = append(all, linkPort{name, b.links[name], greet})
	}
	return all, nil
}

// eachLink does something at all links at the same time.
func (b *Broker) eachLink(ctx context.Context, act func(ctx context.Context, at linkPort) error) error {
	ports, err := b.linkPorts()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, at := range ports {
		group.Go(func() error { return act(ctx, at) })
	}
	return group.Wait()
}

// connect opens a connection and returns once it leads through the link to the broker.
func (at linkPort) connect(ctx context.Context) (net.Conn, error) {
	conn, err := dialWithin(ctx, at.link.Address(), time.Minute)
	if err != nil {
		return nil, err
	}
	_, err = poll.Until(ctx, poll.Options{Budget: wireLimit, Every: time.Millisecond}, func(context.Context) error {
		if !at.link.Carries(conn.LocalAddr().String()) {
			return errors.New("the link has not connected it to the broker")
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect to %s: %w", at.name, err), conn.Close())
	}
	return conn, nil
}

// refuses succeeds if a new connection is refused or reset, not merely silent.
func (at linkPort) refuses(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return wasRefused(at.name, greetAt(ctx, at.link.Address(), at.greet))
}
