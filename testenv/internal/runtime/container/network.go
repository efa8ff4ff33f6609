package container

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// networkTries bounds how often another process may take the subnet.
const networkTries = 10

// connect makes the network of a broker, and gives each node an address for
// good. An engine's own name service knows a node only while it runs, and
// gives it another address at times: a broker that resolves its peers once, at
// its start, would never find those that start later. So the names are in each
// node's hosts file instead, and a peer that is down is an address where
// nobody answers, as in a data centre.
func (p *placement) connect(ctx context.Context, nodes []broker.Node) error {
	name := p.prefix + "net"
	subnet, err := p.makeNetwork(ctx, name)
	if err != nil {
		// One of those made on the way may be there still.
		tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
		defer cancel()
		return errors.Join(fmt.Errorf("make a network: %w", err), p.removeNetwork(tidy, name))
	}
	p.network = name
	p.fixed = map[string]netip.Addr{}
	at := subnet.Addr().Next() // the gateway
	for _, n := range nodes {
		at = at.Next()
		if !subnet.Contains(at) {
			return fmt.Errorf("make a network: %d nodes do not fit into %s", len(nodes), subnet)
		}
		p.fixed[n.Name] = at
		p.hosts = append(p.hosts, n.Name+":"+at.String())
	}
	return nil
}

// makeNetwork lets the engine choose a subnet that is free, and then claims
// that one: addresses can be fixed only in a subnet that was asked for.
func (p *placement) makeNetwork(ctx context.Context, name string) (netip.Prefix, error) {
	options := client.NetworkCreateOptions{
		Driver: "bridge",
		Labels: map[string]string{supervisor.Label: p.session.ID},
	}
	for try := 1; ; try++ {
		if _, err := p.engine.NetworkCreate(ctx, name, options); err != nil {
			return netip.Prefix{}, err
		}
		found, err := p.engine.NetworkInspect(ctx, name, client.NetworkInspectOptions{})
		if err != nil {
			return netip.Prefix{}, err
		}
		subnet, err := subnetOf(found.Network.IPAM)
		if err != nil {
			return netip.Prefix{}, err
		}
		if err := p.removeNetwork(ctx, name); err != nil {
			return netip.Prefix{}, err
		}
		claim := options
		claim.IPAM = &network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet, Gateway: subnet.Addr().Next()}}}
		_, err = p.engine.NetworkCreate(ctx, name, claim)
		if err == nil {
			return subnet, nil
		}
		// Another process may have been given the same subnet meanwhile.
		if try == networkTries || !strings.Contains(err.Error(), "overlap") {
			return netip.Prefix{}, err
		}
	}
}

func subnetOf(ipam network.IPAM) (netip.Prefix, error) {
	for _, c := range ipam.Config {
		if c.Subnet.IsValid() && c.Subnet.Addr().Is4() {
			return c.Subnet.Masked(), nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("the engine gave it no IPv4 subnet: %v", ipam.Config)
}

func (p *placement) removeNetwork(ctx context.Context, name string) error {
	_, err := p.engine.NetworkRemove(ctx, name, client.NetworkRemoveOptions{})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove the network %q: %w", name, err)
	}
	return nil
}
