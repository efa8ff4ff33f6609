package container

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/containerd/errdefs"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/headstart"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// placements numbers the placements of this process, which share a session.
var placements atomic.Int64

// placement is what the nodes of one broker have in common.
type placement struct {
	*Runtime
	// prefix is what the names of its containers begin with.
	prefix string
	ports  map[string]map[string]broker.Port // by node and port
	// fixed are the addresses in the network, and hosts the same as lines for
	// a hosts file.
	fixed map[string]netip.Addr
	hosts []string

	mu sync.Mutex
	// network is empty when there is one node alone: an engine has some thirty
	// networks to give, all in all.
	network string
	open    int // nodes that are not closed
}

// Place makes the images and the network ready.
func (r *Runtime) Place(ctx context.Context, p runtime.Placement) ([]runtime.Node, error) {
	tell := progress(p.Progress)
	if tell == nil {
		tell = func(string, ...any) {}
	}
	shared := &placement{
		Runtime: r,
		prefix:  fmt.Sprintf("brokerfault-%s-%d-", strings.TrimPrefix(r.session.ID, "session-"), placements.Add(1)),
		ports:   map[string]map[string]broker.Port{},
		open:    len(p.Nodes),
	}
	images := map[string]image{}
	placed := make([]runtime.Node, 0, len(p.Nodes))
	for _, b := range p.Nodes {
		if shared.ports[b.Name] != nil {
			return nil, fmt.Errorf("place nodes: two are named %q", b.Name)
		}
		shared.ports[b.Name] = map[string]broker.Port{}
		b.Ports = slices.Clone(b.Ports)
		for i, port := range b.Ports {
			if port.AsAdvertised {
				number, err := numberOf(p.Advertised(b.Name, port.Name))
				if err != nil {
					return nil, fmt.Errorf("place %s: %w", b.Name, err)
				}
				port.Inside = number
				b.Ports[i] = port
			}
			shared.ports[b.Name][port.Name] = port
		}
		key := b.Bill.Key()
		if _, there := images[key]; !there {
			made, err := r.whole(ctx, b.Bill, tell)
			if err != nil {
				return nil, err
			}
			images[key] = made
		}
		placed = append(placed, &node{
			placement: shared,
			name:      b.Name,
			node:      b,
			image:     images[key].ref,
			classes:   images[key].classes,
			heads:     headstart.New(r.cache.Dir, key, nil),
			container: shared.prefix + b.Name,
			log:       filepath.Join(p.LogDir, b.Name+".log"),
			site:      shared.site(b.Name, p.Advertised),
			died:      p.Died,
		})
	}
	if len(p.Nodes) > 1 {
		if err := shared.connect(ctx, p.Nodes); err != nil {
			return nil, err
		}
	}
	return placed, nil
}

// numberOf is the port of a host:port.
func numberOf(address string) (int, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}

// site has the node's own name as its address among its peers: the same that
// the others know it by, so that all agree on what it advertises to them.
func (p *placement) site(name string, advertised func(node, port string) string) broker.Site {
	return broker.Site{
		Node: name,
		Home: home,
		Bind: "0.0.0.0",
		Port: func(port string) int { return p.port(name, port).Inside },
		Peer: func(node, port string) string {
			return net.JoinHostPort(node, strconv.Itoa(p.port(node, port).Inside))
		},
		Advertised: func(port string) string { return advertised(name, port) },
	}
}

// port panics on a name that the description of the broker does not have: a
// fault of the program, not of the machine it runs on.
func (p *placement) port(node, port string) broker.Port {
	found, ok := p.ports[node][port]
	if !ok {
		panic(fmt.Sprintf("the broker has no port %q at node %q", port, node))
	}
	return found
}

// release removes the network with the last node, and lets go of the
// connections that the client keeps for later.
func (p *placement) release(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open > 1 {
		p.open--
		return nil
	}
	if p.network != "" {
		if err := p.removeNetwork(ctx, p.network); err != nil {
			return err
		}
		p.network = ""
	}
	p.open = 0
	return p.engine.Close()
}

// gone says that a container has ended or is not there: nothing to signal.
func gone(err error) bool { return errdefs.IsConflict(err) || errdefs.IsNotFound(err) }
