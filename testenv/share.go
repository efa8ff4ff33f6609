package testenv

import (
	"crypto/rand"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

// readyAnswers is how long a broker that was ready before may take to answer.
const readyAnswers = 10 * time.Second

// idle are the brokers that tests have left for later ones of this process, the
// latest last. The supervisor ends them with the process.
var idle struct {
	sync.Mutex
	brokers []*Broker
}

// holder is the Env that a broker belongs to at present, or none.
type holder struct {
	mu   sync.Mutex
	env  *Env
	dead bool
	// full are the nodes whose disk a fault keeps full, and mayEnd those whose disk was
	// full since their latest start.
	full, mayEnd map[string]bool
}

func (h *holder) died(d *brokerDied) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dead = true
	if h.env == nil {
		return
	}
	if h.mayEnd[d.node] {
		h.env.timeline.Add("broker", "%s ended, its disk having been full: %v", d.node, d.err)
		return
	}
	h.env.timeline.Add("broker", "%s ended unasked: %v", d.node, d.err)
	h.env.cancel(d)
}

// hand gives the broker to an Env, or to none, and says whether it is alive. A dead one
// is nobody's.
func (h *holder) hand(e *Env) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead {
		e = nil
	}
	h.env = e
	return !h.dead
}

// share is what brokers of the plan have in common, or empty if the case wants
// one of its own.
func (e *Env) share(runtime string, p plan) string {
	if !e.c.Shares {
		return ""
	}
	return fmt.Sprintf("%s %s %s %+v", runtime, p.name, p.version, p.spec)
}

// borrow takes over an idle broker that is alike and answers; nil if there is none.
func (e *Env) borrow(share string) *Broker {
	e.t.Helper()
	defer e.spend(starting)()
	for share != "" {
		b := takeIdle(share)
		if b == nil {
			return nil
		}
		b.env = e
		// It may die as long as it is nobody's: then the next one is taken.
		if !b.holder.hand(nil) || !e.answers(b) || !b.holder.hand(e) {
			e.bounded("stop an idle "+b.name, cleanupLimit, b.close)
			continue
		}
		for _, n := range b.nodes {
			b.logFrom[n.Name()] = size(n.LogFile())
		}
		e.brokers = append(e.brokers, b)
		e.say("broker", "%s %s is one that an earlier test has used", b.name, b.plan.version)
		return b
	}
	return nil
}

// answers says whether an idle broker is ready as it was.
func (e *Env) answers(b *Broker) bool {
	all := []Probe{b.ready}
	if b.plan.settled != nil {
		all = append(all, b.plan.settled(b))
	}
	for _, probe := range all {
		if _, err := poll.Until(e.ctx, poll.Options{Budget: e.scaled(readyAnswers)}, poll.Probe(probe)); err != nil {
			return false
		}
	}
	return true
}

func takeIdle(share string) *Broker {
	idle.Lock()
	defer idle.Unlock()
	i := slices.IndexFunc(idle.brokers, func(b *Broker) bool { return b.share == share })
	if i < 0 {
		return nil
	}
	b := idle.brokers[i]
	idle.brokers = slices.Delete(idle.brokers, i, i+1)
	return b
}

// leave keeps a broker for a later test, if nothing was done to it that another
// would notice, and says so. It gives back those that have been idle the longest
// where there are too many, to be stopped.
func (e *Env) leave(b *Broker) (left bool, over []*Broker) {
	fine := e.result.verdict == evidence.Recovered || e.result.atFault == evidence.Client
	if b.share == "" || !b.wasReady || e.t.Failed() || !fine || e.harmed || !b.holder.hand(nil) {
		return false, nil
	}
	e.bounded("keep the head start of "+b.name, cleanupLimit, b.keep)
	idle.Lock()
	defer idle.Unlock()
	idle.brokers = append(idle.brokers, b)
	nodes := 0
	for i, b := range slices.Backward(idle.brokers) {
		if nodes += len(b.nodes); nodes > mostIdle() {
			over = slices.Clone(idle.brokers[:i+1])
			idle.brokers = slices.Delete(idle.brokers, 0, i+1)
			break
		}
	}
	return true, over
}

// mostIdle bounds the nodes that nobody uses at present. RocketMQ's three take 0.5 GB and a
// tenth of a processor, a Kafka 0.15 GB.
func mostIdle() int { return 3 * goruntime.GOMAXPROCS(0) }

// Unique is the name with an end that no other test has: for topics, groups and
// namespaces of a case that shares its broker. It consists of the name, a hyphen
// and small letters and digits.
func (e *Env) Unique(name string) string {
	return name + "-" + strings.ToLower(rand.Text()[:8])
}
