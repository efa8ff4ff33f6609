package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/headstart"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// loopback is the only address that a port is published on.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

type node struct {
	*placement
	name      string
	node      broker.Node // Become replaces it, and the image
	image     string
	disk      *disk  // that its data lie on, from the first start on, if it has one
	container string // its name, known before the engine has answered with an id
	log       string
	site      broker.Site
	died      func(string, error)

	heads   headstart.Store
	classes map[string]bool // the main classes of which the image has archives
	copied  bool            // it was given what an earlier one's setup made
	begun   bool
	made    bool
	closed  bool
	paused  bool
	run     *run
	watches sync.WaitGroup

	mu        sync.Mutex
	addresses map[string]string
}

func (n *node) Name() string          { return n.name }
func (n *node) LogFile() string       { return n.log }
func (n *node) Launch() broker.Launch { return n.node.Launch(n.site) }
func (n *node) Where() string         { return "image " + n.image + " on " + n.base }

func (n *node) Address(port string) (string, error) {
	if _, ok := n.ports[n.Name()][port]; !ok {
		return "", fmt.Errorf("%s has no port %q", n.Name(), port)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	// The engine may give the number of a node that has ended to another one.
	if n.addresses[port] == "" {
		return "", fmt.Errorf("find port %q of %s: %w", port, n.Name(), runtime.ErrNotRunning)
	}
	return n.addresses[port], nil
}

func (n *node) setAddresses(a map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addresses = a
}

func (n *node) Start(ctx context.Context) error {
	if err := n.start(ctx); err != nil {
		return fmt.Errorf("start %s: %w", n.Name(), err)
	}
	return nil
}

func (n *node) start(ctx context.Context) error {
	switch {
	case n.closed:
		return errors.New("it is closed")
	case n.running():
		return errors.New("it runs already")
	}
	if err := n.make(ctx); err != nil {
		return err
	}
	l := n.Launch()
	files, err := archive(n.withHeadStart(l), n.classFlags(l.Main.Class))
	if err != nil {
		return err
	}
	_, err = n.engine.CopyToContainer(ctx, n.container, client.CopyToContainerOptions{DestinationPath: "/", Content: files})
	if err != nil {
		return fmt.Errorf("copy its files: %w", err)
	}
	n.paused = false
	if err := n.begin(ctx); err != nil {
		return err
	}
	n.begun = true
	if err := n.locate(ctx); err != nil {
		n.abandon()
		return err
	}
	return nil
}

// make makes the container, at the first start.
func (n *node) make(ctx context.Context) error {
	if n.made {
		return nil
	}
	if err := n.makeDisk(ctx); err != nil {
		return fmt.Errorf("make the disk of its data: %w", err)
	}
	request := testcontainers.ContainerRequest{
		Name:       n.container,
		Image:      n.image,
		Entrypoint: []string{"/bin/sh"},
		Cmd:        []string{scriptFile},
		Labels:     map[string]string{supervisor.Label: n.session.ID},
		ConfigModifier: func(c *container.Config) {
			c.Hostname = n.Name()
			c.WorkingDir = home
			// A base image may name a user that can write nowhere.
			c.User = "0"
		},
		HostConfigModifier: func(h *container.HostConfig) {
			h.ExtraHosts = n.hosts
			if n.disk != nil {
				h.VolumesFrom = []string{n.keeper()}
			}
			h.PortBindings = network.PortMap{}
			for _, p := range n.node.Ports {
				h.PortBindings[network.MustParsePort(portKey(p))] = []network.PortBinding{{HostIP: loopback}}
			}
		},
	}
	for _, p := range n.node.Ports {
		request.ExposedPorts = append(request.ExposedPorts, portKey(p))
	}
	if n.network != "" {
		request.Networks = []string{n.network}
		request.EndpointSettingsModifier = func(all map[string]*network.EndpointSettings) {
			all[n.network] = &network.EndpointSettings{
				Aliases:    []string{n.Name()},
				IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: n.fixed[n.Name()]},
			}
		}
	}
	if _, err := n.provider.CreateContainer(ctx, request); err != nil {
		// It may be there all the same, but half made.
		tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
		defer cancel()
		return errors.Join(fmt.Errorf("make its container: %w", err), n.remove(tidy))
	}
	n.made = true
	return nil
}

// locate finds out which ports of this machine the engine chose. A container
// that has ended meanwhile has none; its end is told by the watch.
func (n *node) locate(ctx context.Context) error {
	found, err := n.engine.ContainerInspect(ctx, n.container, client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("find its ports: %w", err)
	}
	if found.Container.NetworkSettings == nil || found.Container.State == nil || !found.Container.State.Running {
		return nil
	}
	addresses := map[string]string{}
	for _, p := range n.node.Ports {
		bound := found.Container.NetworkSettings.Ports[network.MustParsePort(portKey(p))]
		if len(bound) == 0 {
			return fmt.Errorf("find its ports: the engine does not publish %q", p.Name)
		}
		addresses[p.Name] = net.JoinHostPort(loopback.String(), bound[0].HostPort)
	}
	n.setAddresses(addresses)
	if !n.running() {
		n.setAddresses(nil)
	}
	return nil
}
