package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/link"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
	"github.com/brokerfault/brokerfault/testenv/internal/turnstile"
)

const (
	// placeLimit is ample for a download of all jars and the build of an image.
	placeLimit = 20 * time.Minute
	readyLimit = 90 * time.Second
	// stopGrace is how long a node may take to end after TERM. RocketMQ's take 14 s, nearly
	// all of it spent in the quiet periods of one Netty event loop after the other.
	stopGrace = 20 * time.Second
	lastLines = 12
)

// Broker is a running broker, or some nodes of one: each client port lies behind a link.
type Broker struct {
	env *Env
	// holder is told of a death; the parts of a broker have it in common.
	holder *holder
	// share is what a broker must have in common with one that a later test asks
	// for to be given to it; empty is given to none.
	share  string
	logDir string
	// logFrom is where the present test's part of a node's log begins.
	logFrom map[string]int64
	name    string
	plan    plan
	nodes   []runtime.Node
	links   map[string]*link.Link // node/port
	ready   Probe
	// wasReady says that it was ready once.
	wasReady bool
	kept     bool
}

// brokerDied ends every wait: what follows would blame the client for it.
type brokerDied struct {
	node string
	err  error
	log  string
}

func (d *brokerDied) Error() string {
	why := evidence.Death(d.err, d.log)
	if why != "" {
		why = ": " + why
	}
	return fmt.Sprintf("%s ended unasked (%v)%s; its last lines:\n%s", d.node, d.err, why, d.log)
}

func (d *brokerDied) Unwrap() error { return d.err }

// start gives a broker as planned: one that an earlier test left, or a new one.
func (e *Env) start(p plan) *Broker {
	e.t.Helper()
	e.version = p.version
	e.t.Attr("broker", p.name)
	e.t.Attr("broker_version", p.version)
	rt, err := runtimeOf(e.ctx, e.settings)
	if err != nil {
		e.environment("%v", err)
	}
	e.runtime = rt.Name()
	e.t.Attr("runtime", rt.Name())
	if p.fits != nil {
		if err := p.fits(rt.Name()); err != nil {
			e.environment("start %s %s: %v", p.name, p.version, err)
		}
	}
	if e.jvm != nil {
		p.nodes = withFlags(p.nodes, func(jvm []string) []string { return e.jvm(p.name, jvm) })
	}
	share := e.share(rt.Name(), p)
	if b := e.borrow(share); b != nil {
		return b
	}
	wait := evidence.Begun(p.name+" "+p.version+" starts", 0)
	e.sayWait(wait, "broker", "%s %s, runtime %s", p.name, p.version, rt.Name())
	b := &Broker{
		env: e, name: p.name, plan: p, links: map[string]*link.Link{},
		holder: &holder{env: e}, share: share, logFrom: map[string]int64{},
	}
	e.brokers = append(e.brokers, b)
	prepared := e.spend(preparing)
	err = b.place(rt, p)
	prepared()
	if err != nil {
		e.environment("start %s %s: %v", p.name, p.version, err)
	}
	b.ready = p.ready(b)
	queued := e.spend(queueing)
	leave, err := e.turn()
	queued()
	if err != nil {
		e.environment("start %s %s: %v", p.name, p.version, err)
	}
	began, started := time.Now(), e.spend(starting)
	err = b.start(e.ctx)
	started()
	leave()
	if err != nil {
		e.environment("start %s %s: %v", p.name, p.version, b.explain(err))
	}
	b.wasReady = true
	took := time.Since(began)
	e.sayWait(wait.After(took), "broker", "%s %s is ready after %v", p.name, p.version, took.Round(time.Millisecond))
	return b
}

// turn waits until few enough brokers of this user's test processes are starting: one
// for two processors.
func (e *Env) turn() (leave func(), err error) {
	session, err := supervisor.Current()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(e.ctx, placeLimit)
	defer cancel()
	return turnstile.Enter(ctx, filepath.Dir(session.Dir), max(1, goruntime.NumCPU()/2))
}

func (b *Broker) place(rt runtime.Runtime, p plan) error {
	e := b.env
	session, err := supervisor.Current()
	if err != nil {
		return err
	}
	if b.logDir, err = os.MkdirTemp(session.Dir, "log-"); err != nil {
		return fmt.Errorf("make a directory for logs: %w", err)
	}
	for _, n := range p.nodes {
		for _, port := range n.Ports {
			if !port.Client {
				continue
			}
			l, err := link.Listen(n.Name + "/" + port.Name)
			if err != nil {
				return err
			}
			if p.inspect != nil {
				p.inspect(l)
			}
			b.links[n.Name+"/"+port.Name] = l
		}
	}
	ctx, cancel := context.WithTimeout(e.ctx, placeLimit)
	defer cancel()
	nodes, err := rt.Place(ctx, runtime.Placement{
		Nodes:      p.nodes,
		Advertised: func(node, port string) string { return b.links[node+"/"+port].Address() },
		LogDir:     b.logDir,
		Died:       b.died,
		Progress:   b.prepares,
	})
	if err != nil {
		return err
	}
	b.nodes = nodes
	for i, n := range nodes {
		for _, port := range p.nodes[i].Ports {
			if !port.Client {
				continue
			}
			l := b.links[n.Name()+"/"+port.Name]
			if rt.Relays() {
				l.Relayed()
			}
			l.Forward(func() (string, error) { return n.Address(port.Name) })
		}
	}
	return nil
}

func (b *Broker) died(node string, err error) {
	d := &brokerDied{node: node, err: err}
	for _, n := range b.nodes {
		if n.Name() == node {
			d.log = evidence.LastWords(n.LogFile(), lastLines)
		}
	}
	b.holder.died(d)
}

// start starts the nodes in order and waits until the broker is ready.
func (b *Broker) start(ctx context.Context) error {
	for _, n := range b.nodes {
		if err := b.await(ctx, n.Name()); err != nil {
			return err
		}
		b.holder.starts(n.Name())
		if err := n.Start(ctx); err != nil {
			return err
		}
		b.env.timeline.Add("broker", "%s is started", n.Name())
	}
	_, err := poll.Until(ctx, poll.Options{Budget: b.env.scaled(readyLimit)}, poll.Probe(b.ready))
	if err != nil {
		return fmt.Errorf("wait until it is ready: %w", err)
	}
	b.holder.started()
	return nil
}

// await waits for what a node needs to be there when it starts.
func (b *Broker) await(ctx context.Context, node string) error {
	if b.plan.before == nil {
		return nil
	}
	probe := b.plan.before(b, node)
	if probe == nil {
		return nil
	}
	if _, err := poll.Until(ctx, poll.Options{Budget: b.env.scaled(readyLimit)}, poll.Probe(probe)); err != nil {
		return fmt.Errorf("wait until %s can start: %w", node, err)
	}
	return nil
}

// explain adds the broker's last words to an error that has none.
func (b *Broker) explain(err error) error {
	var died *brokerDied
	if errors.As(err, &died) {
		return err
	}
	for _, n := range b.nodes {
		err = fmt.Errorf("%w\nlast lines of %s:\n%s", err, n.Name(), evidence.LastWords(n.LogFile(), lastLines))
	}
	return err
}

// keep keeps, once, what a start has found out that came to its end.
func (b *Broker) keep(ctx context.Context) error {
	if !b.wasReady || b.kept {
		return nil
	}
	b.kept = true
	var errs error
	for _, n := range b.nodes {
		errs = errors.Join(errs, n.Keep(ctx))
	}
	return errs
}

// close stops the nodes, the last first, and the links. There is no need to
// end a broker gently whose data are thrown away.
func (b *Broker) close(ctx context.Context) error {
	errs := b.keep(ctx)
	for _, n := range slices.Backward(b.nodes) {
		errs = errors.Join(errs, n.Close(ctx))
	}
	for _, l := range b.links {
		errs = errors.Join(errs, l.Close())
	}
	return errors.Join(errs, os.RemoveAll(b.logDir))
}
