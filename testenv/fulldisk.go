package testenv

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// FillDisk is the fault of a disk that is full: in the directory that the broker stores
// its data in, not a page more can be written. What the broker itself gives back it can use
// again. It heals by giving back the room that it took.
//
// It needs a broker that was started with a DataLimit, in a container, and is refused on
// any other: the disk of a machine is not to be filled.
//
// What the broker makes of it is not part of the proof. One that ends, as Kafka does when
// its only log directory fails, does not end the test: until it is started again, that is
// this fault's doing. [Broker.Restart] starts it, once the fault is healed: heal this one
// first, then inject that one.
func (b *Broker) FillDisk() Fault {
	var filled []dataDisk
	return Fault{
		Name: "the disk of " + b.name + " is full",
		Apply: func(ctx context.Context) error {
			disks, err := b.disks()
			if err != nil {
				return err
			}
			for _, d := range disks {
				if err := b.holder.fills(d.node); err != nil {
					return err
				}
				filled = append(filled, d)
				if err := d.Fill(ctx); err != nil {
					return fmt.Errorf("fill the disk of %s: %w", d.node, err)
				}
			}
			return nil
		},
		Bites: func(ctx context.Context) error {
			disks, err := b.disks()
			if err != nil {
				return err
			}
			for _, d := range disks {
				if err := d.Full(ctx); err != nil {
					return fmt.Errorf("the disk of %s is not full: %w", d.node, err)
				}
			}
			return nil
		},
		Heal: func(ctx context.Context) error {
			for _, d := range filled {
				if err := d.Clear(ctx); err != nil {
					return fmt.Errorf("clear the disk of %s: %w", d.node, err)
				}
				b.holder.cleared(d.node)
			}
			filled = nil
			return nil
		},
		harms: true,
	}
}

// dataDisk is what the data of a node lie on.
type dataDisk struct {
	runtime.Disk

	node string
}

// disks are those of the broker's nodes that store data.
func (b *Broker) disks() ([]dataDisk, error) {
	var all []dataDisk
	for _, n := range b.nodes {
		if !slices.ContainsFunc(b.plan.nodes, func(p broker.Node) bool { return p.Name == n.Name() && p.Data != "" }) {
			continue
		}
		d, err := n.Disk()
		if err != nil {
			return nil, err
		}
		all = append(all, dataDisk{d, n.Name()})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s stores no data, so it has no disk that could be full", b.name)
	}
	return all, nil
}

// limited gives the data of nodes that limit, in bytes. Settings that move the data to
// another place would have the limit, and the fault, miss them.
func limited(nodes []broker.Node, limit int64, config map[string]string, moves ...string) ([]broker.Node, error) {
	if limit < 0 {
		return nil, fmt.Errorf("a DataLimit of %d bytes: it cannot be negative", limit)
	}
	if limit == 0 {
		return nodes, nil
	}
	for _, key := range moves {
		if value, set := config[key]; set {
			return nil, fmt.Errorf("a DataLimit does not hold where %s=%s places the data: leave one of them out", key, value)
		}
	}
	nodes = slices.Clone(nodes)
	for i := range nodes {
		if nodes[i].Data != "" {
			nodes[i].DataLimit = limit
		}
	}
	return nodes, nil
}

// fills books the disk of a node for one fault at a time: of two, the one that heals first
// would end the other.
func (h *holder) fills(node string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.full[node] {
		return errors.New("the disk of " + node + " is full already: heal that fault first")
	}
	if h.full == nil {
		h.full, h.mayEnd = map[string]bool{}, map[string]bool{}
	}
	h.full[node], h.mayEnd[node] = true, true
	return nil
}

func (h *holder) cleared(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.full, node)
}

// starts has a node account for its end again. If it starts on a disk that is still full,
// it has to get that far.
func (h *holder) starts(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.mayEnd, node)
}

// started lets those end whose disk is full.
func (h *holder) started() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for node := range h.full {
		h.mayEnd[node] = true
	}
}
