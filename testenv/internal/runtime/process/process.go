package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// loopback is the only address that a broker listens on.
const loopback = "127.0.0.1"

// Runtime runs nodes as processes.
type Runtime struct {
	cache   *dist.Cache
	java    string
	build   func() (string, error) // what java calls itself
	version string                 // in java's own words
	session *supervisor.Session
}

// New finds Java. The error of a machine that has none fit is ErrNoJava.
func New(ctx context.Context, cache *dist.Cache) (*Runtime, error) {
	java, err := FindJava(ctx)
	if err != nil {
		return nil, err
	}
	session, err := supervisor.Current()
	if err != nil {
		return nil, err
	}
	build := sync.OnceValues(func() (string, error) { return javaBuild(java.Path) })
	return &Runtime{cache: cache, java: java.Path, version: "Java " + java.Version, build: build, session: session}, nil
}

// Name is "process".
func (*Runtime) Name() string { return "process" }

// Relays is false: a client's connection goes to the broker's own socket.
func (*Runtime) Relays() bool { return false }

// Place resolves the jars, holds the ports and makes the directories.
func (r *Runtime) Place(ctx context.Context, p runtime.Placement) ([]runtime.Node, error) {
	for _, n := range p.Nodes {
		if n.DataLimit > 0 {
			return nil, fmt.Errorf("limit the data of %s to %d bytes: that takes a file system of its own, which a process cannot be given: "+
				"set BROKERFAULT_BACKEND=container", n.Name, n.DataLimit)
		}
	}
	cache := r.cache.Telling(p.Progress)
	nodes := make(map[string]*node, len(p.Nodes))
	placed := make([]runtime.Node, 0, len(p.Nodes))
	for _, n := range p.Nodes {
		jars, err := cache.Jars(ctx, n.Bill)
		if err == nil {
			nodes[n.Name], err = r.place(n, jars, p)
		}
		if err != nil {
			return nil, errors.Join(err, closeAll(ctx, placed))
		}
		placed = append(placed, nodes[n.Name])
	}
	peer := func(name, port string) string { return nodes[name].address(port) }
	for _, n := range nodes {
		n.site.Peer = peer
	}
	findArchives(ctx, slices.Collect(maps.Values(nodes)))
	if err := context.Cause(ctx); err != nil {
		return nil, errors.Join(err, closeAll(ctx, placed))
	}
	return placed, nil
}

func closeAll(ctx context.Context, nodes []runtime.Node) error {
	var errs error
	for _, n := range nodes {
		errs = errors.Join(errs, n.Close(context.WithoutCancel(ctx)))
	}
	return errs
}

// Prepare gets the jars.
func (r *Runtime) Prepare(ctx context.Context, bill dist.Bill, progress func(format string, args ...any)) (runtime.Prepared, error) {
	jars, err := r.cache.Telling(progress).Jars(ctx, bill)
	if err != nil {
		return runtime.Prepared{}, err
	}
	size, err := jars.Size()
	return runtime.Prepared{Name: jars.Dir, Bytes: size}, err
}

func (r *Runtime) place(n broker.Node, jars dist.Jars, p runtime.Placement) (*node, error) {
	home, err := os.MkdirTemp(r.session.Dir, n.Name+"-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for %q: %w", n.Name, err)
	}
	made := &node{
		name: n.Name, node: n, runtime: r, jars: jars, home: home, ports: map[string]*port{},
		start: r.store(jars.Key, p.Progress),
		log:   filepath.Join(p.LogDir, n.Name+".log"), died: p.Died,
	}
	made.site = broker.Site{
		Node:       n.Name,
		Home:       home,
		Bind:       loopback,
		Port:       func(name string) int { return made.ports[name].Number },
		Advertised: func(port string) string { return p.Advertised(n.Name, port) },
	}
	for _, want := range n.Ports {
		held, err := holdPort(want.Also...)
		if err != nil {
			return nil, errors.Join(err, made.Close(context.Background()))
		}
		made.ports[want.Name] = held
	}
	return made, nil
}

func (n *node) address(port string) string {
	return net.JoinHostPort(loopback, strconv.Itoa(n.ports[port].Number))
}
