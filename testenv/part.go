package testenv

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/link"
)

// part is the broker reduced to some of its nodes: what is done to it is done to
// them alone. It is ready when the whole broker is.
func (b *Broker) part(nodes ...string) *Broker {
	some := *b
	some.name = strings.Join(nodes, " and ")
	some.nodes, some.links = nil, map[string]*link.Link{}
	for _, n := range b.nodes {
		if !slices.Contains(nodes, n.Name()) {
			continue
		}
		some.nodes = append(some.nodes, n)
		for _, port := range b.ports(n.Name()) {
			if port.Client {
				some.links[n.Name()+"/"+port.Name] = b.links[n.Name()+"/"+port.Name]
			}
		}
	}
	return &some
}

func (b *Broker) ports(node string) []broker.Port { return b.plan.node(node).Ports }

// address is where a port is reached: at its link, if it has one.
func (b *Broker) address(node, port string) (string, error) {
	if l := b.links[node+"/"+port]; l != nil {
		return l.Address(), nil
	}
	for _, n := range b.nodes {
		if n.Name() == node {
			return n.Address(port)
		}
	}
	return "", fmt.Errorf("%s has no node %q", b.name, node)
}

// greets makes a handshake at each port that has one, all at once, and returns
// what came of them.
func (b *Broker) greets(ctx context.Context) []error {
	var all []func() error
	for _, n := range b.nodes {
		for _, port := range b.ports(n.Name()) {
			greet := b.plan.greet[port.Name]
			if greet == nil {
				continue
			}
			all = append(all, func() error {
				address, err := b.address(n.Name(), port.Name)
				if err != nil {
					return err
				}
				return greetAt(ctx, address, greet)
			})
		}
	}
	errs := make([]error, len(all))
	var done sync.WaitGroup
	for i, greet := range all {
		done.Go(func() { errs[i] = greet() })
	}
	done.Wait()
	return errs
}
