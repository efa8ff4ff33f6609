package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/link"
)

const (
	// silentFor is how long a handshake waits before its silence counts as such.
	silentFor = time.Second
	// mostLatency and mostRate bound what can be proven: above, a wait of minutes, or a
	// rate that a busy machine may well have without a throttle.
	mostLatency = time.Minute
	mostRate    = 16 << 20
)

// Cut is the fault of a network that resets every connection between clients
// and broker. It heals by letting new connections through.
func (b *Broker) Cut() Fault {
	return b.onLinks("the links to "+b.name+" are cut", linkFault{
		kind: "cut",
		lay:  (*link.Link).Cut,
		lift: (*link.Link).Restore,
		bites: func(ctx context.Context, at linkPort) error {
			return at.refuses(ctx, b.env.scaled(silentFor))
		},
	})
}

// CutToBroker is the fault of a network in which nothing that clients send reaches the
// broker, while its own words reach them. Connections stay open and new ones are taken.
// When it heals, those that have lost something are reset.
func (b *Broker) CutToBroker() Fault {
	return b.oneWay(link.Up, "nothing from clients reaches "+b.name)
}

// CutToClients is the same the other way round: the broker gets and does what clients
// ask for, and they do not hear of it.
func (b *Broker) CutToClients() Fault {
	return b.oneWay(link.Down, "nothing from "+b.name+" reaches clients")
}

func (b *Broker) oneWay(d link.Direction, name string) Fault {
	swallowed := func(l *link.Link) int64 {
		if d == link.Up {
			return l.Counts().SwallowedUp
		}
		return l.Counts().SwallowedDown
	}
	return b.onLinks(name, linkFault{
		kind: name,
		lay:  func(l *link.Link) { l.Swallow(d) },
		lift: func(l *link.Link) { l.Deliver(d) },
		bites: func(ctx context.Context, at linkPort) error {
			before := swallowed(at.link)
			ctx, cancel := context.WithTimeout(ctx, b.env.scaled(silentFor))
			defer cancel()
			if err := wasUnanswered(at.name, greetAt(ctx, at.link.Address(), at.greet)); err != nil {
				return err
			}
			if swallowed(at.link) == before {
				return fmt.Errorf("%s is silent, but its link swallowed nothing of that direction", at.name)
			}
			return nil
		},
	})
}

// Latency is the fault of a long way: what clients and broker send each other arrives d
// later, so that a round trip takes twice that. It takes 1 ms to a minute. When it heals,
// what is on its way arrives at once. The opening of connections is not delayed.
func (b *Broker) Latency(d time.Duration) Fault {
	f := b.onLinks(fmt.Sprintf("the links to %s are %v long", b.name, d), linkFault{
		kind: "latency",
		check: func() error {
			if d < time.Millisecond || d > mostLatency {
				return fmt.Errorf("a latency of %v: it can be 1ms to %v", d, mostLatency)
			}
			return nil
		},
		lay:  func(l *link.Link) { l.Delay(d) },
		lift: func(l *link.Link) { l.Delay(0) },
		bites: func(ctx context.Context, at linkPort) error {
			conn, err := dialWithin(ctx, at.link.Address(), 2*d+wireLimit)
			if err != nil {
				return err
			}
			defer conn.Close()
			began := time.Now()
			if err := at.greet(conn); err != nil {
				return fmt.Errorf("greet %s: %w", at.name, err)
			}
			if took := time.Since(began); took < 2*d {
				return fmt.Errorf("a round trip to %s took %v, not %v", at.name, took.Round(time.Microsecond), 2*d)
			}
			return nil
		},
	})
	f.BitesWithin = 2*min(max(d, 0), mostLatency) + 30*time.Second
	return f
}

// Throttle is the fault of a narrow way: each direction of each connection passes that
// many bytes a second, which can be 1 to 16 Mi.
func (b *Broker) Throttle(bytesPerSecond int) Fault {
	rate := int64(bytesPerSecond)
	return b.onLinks(fmt.Sprintf("the links to %s pass %d bytes a second", b.name, bytesPerSecond), linkFault{
		kind: "throttle",
		check: func() error {
			if rate < 1 || rate > mostRate {
				return fmt.Errorf("a throttle to %d bytes a second: it can be 1 to %d", rate, mostRate)
			}
			return nil
		},
		lay:  func(l *link.Link) { l.Throttle(rate) },
		lift: func(l *link.Link) { l.Throttle(0) },
		bites: func(ctx context.Context, at linkPort) error {
			// Few greetings are long enough to be measured.
			n := max(1, rate/4)
			took, err := at.link.Echo(ctx, n)
			if err != nil {
				return err
			}
			if least := time.Second * time.Duration(n) / time.Duration(rate); took < least*9/10 {
				return fmt.Errorf("%d bytes took %v through the link to %s, not %v", n, took.Round(time.Microsecond), at.name, least)
			}
			return nil
		},
	})
}

// ResetConnections is a one-shot fault: each connection between clients and broker is
// reset, and new ones are let through. It bites if a client was connected.
func (b *Broker) ResetConnections() Fault {
	clients := 0
	return Fault{
		Name: "the connections to " + b.name + " are reset",
		Apply: func(ctx context.Context) error {
			ports, err := b.linkPorts()
			if err != nil {
				return err
			}
			clients = 0
			for _, at := range ports {
				own, err := at.connect(ctx)
				if err != nil {
					return err
				}
				n := at.link.Reset()
				err = wasReset(own)
				_ = own.Close()
				if err != nil {
					return fmt.Errorf("look for the reset at %s: %w", at.name, err)
				}
				clients += n - 1
			}
			return nil
		},
		Bites: func(ctx context.Context) error {
			if clients <= 0 {
				return Stop(fmt.Errorf("no client was connected to %s", b.name))
			}
			return b.eachLink(ctx, func(ctx context.Context, at linkPort) error {
				return greetAt(ctx, at.link.Address(), at.greet)
			})
		},
	}
}

// RefuseConnections is the fault of a broker that takes no more connections: each new one
// is reset as soon as it is accepted, and those that are open go on.
func (b *Broker) RefuseConnections() Fault {
	before := map[*link.Link]*opened{}
	return b.onLinks("new connections to "+b.name+" are refused", linkFault{
		kind: "refusal",
		prepare: func(ctx context.Context, at linkPort) error {
			conn, err := at.connect(ctx)
			if err == nil {
				before[at.link] = &opened{conn: conn}
			}
			return err
		},
		lay: (*link.Link).Refuse,
		lift: func(l *link.Link) {
			l.Admit()
			if o := before[l]; o != nil {
				_ = o.conn.Close()
			}
		},
		bites: func(ctx context.Context, at linkPort) error {
			if err := at.refuses(ctx, b.env.scaled(silentFor)); err != nil {
				return err
			}
			return before[at.link].goesOn(at)
		},
	})
}

// opened is a connection that was opened before a fault.
type opened struct {
	conn net.Conn
	went bool
}

// goesOn greets the broker on the connection, once.
func (o *opened) goesOn(at linkPort) error {
	if o == nil {
		return fmt.Errorf("no connection to %s was open before", at.name)
	}
	if o.went {
		return nil
	}
	defer o.conn.Close()
	if err := at.greet(o.conn); err != nil {
		return Stop(fmt.Errorf("a connection to %s that was open before does not go on: %w", at.name, err))
	}
	o.went = true
	return nil
}

// wasReset succeeds if a connection was reset by its other side.
func wasReset(conn net.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(wireLimit)); err != nil {
		return err
	}
	// The broker may have spoken first.
	_, err := io.Copy(io.Discard, conn)
	if err == nil {
		err = io.EOF
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("the connection was not reset, but: %w", err)
	}
	return nil
}
