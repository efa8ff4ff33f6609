package testenv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
)

// PulsarSpec says which Pulsar to start. Its zero value is a standalone broker
// of the version in BROKERFAULT_PULSAR, tuned for tests.
type PulsarSpec struct {
	// Version is any that Maven Central has; empty is BROKERFAULT_PULSAR, else 3.0.2.
	Version string
	// Config are settings of standalone.conf, on top of the test's own; a
	// setting with an empty value is left out.
	Config map[string]string
	// DataLimit gives the directory of bookie and metadata a file system of its own,
	// of so many bytes, in memory: what [Broker.FillDisk] needs. The data outlive Kill and
	// Restart: a second container, NAME-disk, keeps them. Zero is none. It takes
	// containers; in processes the start is refused. 256 MiB (256 << 20) is what the
	// tests take.
	DataLimit int64
}

// Pulsar is a running standalone Pulsar.
type Pulsar struct {
	*Broker
	http *http.Client
}

// StartPulsar starts a Pulsar of this Env's own, or takes over the one of an earlier test
// (Case.Shares), and returns once a health
// check of the broker, which sends and receives a message in it, and a
// handshake at the advertised address have succeeded. If it does not start,
// the test ends with the verdict environment and the broker's last log lines.
func (e *Env) StartPulsar(spec PulsarSpec) *Pulsar {
	e.t.Helper()
	if spec.Version == "" {
		spec.Version = e.settings.Pulsar
	}
	p := &Pulsar{http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	plan, err := p.plan(spec)
	if err != nil {
		e.environment("start pulsar: %v", err)
	}
	plan.spec, plan.whole = spec, p
	return e.start(plan).plan.whole.(*Pulsar)
}

func (p *Pulsar) plan(spec PulsarSpec) (plan, error) {
	bill, err := dist.Pulsar(spec.Version)
	if err != nil {
		return plan{}, err
	}
	nodes, err := limited(broker.Pulsar(bill, spec.Config), spec.DataLimit, spec.Config,
		"journalDirectory", "journalDirectories", "ledgerDirectories", "indexDirectories", "metadataStoreUrl")
	if err != nil {
		return plan{}, err
	}
	return plan{
		name:    "pulsar",
		version: spec.Version,
		setting: "BROKERFAULT_PULSAR=" + spec.Version,
		nodes:   nodes,
		// Of one that was killed, the bookie was seen to join again many times a second, and
		// once to be missing for a new topic ("Not enough non-faulty bookies", 3.0.2).
		resents: true,
		ready: func(b *Broker) Probe {
			p.Broker = b
			return p.answers
		},
		with: func(c Change) (plan, error) {
			next := spec
			next.Version, next.Config = cmp.Or(c.Version, spec.Version), c.on(spec.Config)
			return p.plan(next)
		},
		tells: p.tells,
		greet: map[string]greeting{broker.PulsarBinary: pulsarHandshake},
	}, nil
}

// ServiceURL is where clients connect: the link in front of the broker. It
// stays the same over restarts.
func (p *Pulsar) ServiceURL() string {
	return "pulsar://" + p.links[broker.PulsarNode+"/"+broker.PulsarBinary].Address()
}

// answers is the readiness probe. It asks first for what comes last and costs the
// starting broker least.
func (p *Pulsar) answers(ctx context.Context) error {
	// A standalone broker makes its tenant and its namespace last.
	if err := p.Admin(ctx, http.MethodGet, "/admin/v2/namespaces/public/default", nil, nil); err != nil {
		return fmt.Errorf("look for the namespace public/default: %w", err)
	}
	if err := p.Admin(ctx, http.MethodGet, "/admin/v2/brokers/health", nil, nil); err != nil {
		return fmt.Errorf("check the broker's health: %w", err)
	}
	return errors.Join(p.greets(ctx)...)
}
