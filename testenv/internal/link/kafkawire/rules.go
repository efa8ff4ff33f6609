package kafkawire

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/link"
)

// keys is how many API keys are told apart. There are fewer than 100 (Kafka 4.4).
const keys = 256

// Rules are what is done to the frames of one broker's links. The links share them,
// so that the n-th is the n-th of the whole broker.
type Rules struct {
	lock      sync.Mutex
	active    atomic.Pointer[[]*Rule] // replaced, never changed
	requests  [keys]atomic.Int64
	responses [keys]atomic.Int64
}

// New returns rules that do nothing but count.
func New() *Rules {
	r := &Rules{}
	r.active.Store(&[]*Rule{})
	return r
}

// Match says which frames a rule is for.
type Match struct {
	// Key is the API key; zero is Produce.
	Key int16
	// Responses picks the answers to these requests instead of the requests.
	Responses bool
	// Nth picks the n-th of them since the rule was added, counted from 1 over all
	// connections; zero is every one.
	Nth int64
}

// Action is what a rule does.
type Action struct {
	kind  kind
	delay time.Duration
}

type kind int

const (
	pass kind = iota
	hold
	delay
	drop
	lose
)

// Hold keeps a frame back until the rule is removed; what follows it in its direction
// of its connection waits behind it.
func Hold() Action { return Action{kind: hold} }

// Delay hands a frame on d after it arrived; what follows it in its direction of its
// connection waits behind it.
func Delay(d time.Duration) Action { return Action{kind: delay, delay: d} }

// Drop swallows a frame; what follows it passes.
func Drop() Action { return Action{kind: drop} }

// Lose swallows a frame and resets its connection, once what came before has gone on.
func Lose() Action { return Action{kind: lose} }

// Rule is one that was added.
type Rule struct {
	rules   *Rules
	match   Match
	action  Action
	removed chan struct{}
	once    sync.Once
	matched atomic.Int64
	acted   atomic.Int64
}

// Add puts a rule behind those that are there. Each rule counts what it matches; of
// those that would act on a frame, the first does.
func (r *Rules) Add(m Match, a Action) *Rule {
	rule := &Rule{rules: r, match: m, action: a, removed: make(chan struct{})}
	r.change(func(all []*Rule) []*Rule { return append(all, rule) })
	return rule
}

// Remove ends a rule and lets go what it holds back. Further calls do nothing.
func (r *Rule) Remove() {
	r.once.Do(func() {
		r.rules.change(func(all []*Rule) []*Rule {
			return slices.DeleteFunc(all, func(other *Rule) bool { return other == r })
		})
		close(r.removed)
	})
}

// Matched is how many frames the rule was for, those but the n-th included.
func (r *Rule) Matched() int64 { return r.matched.Load() }

// Acted is to how many frames the rule has done something.
func (r *Rule) Acted() int64 { return r.acted.Load() }

// Requests is how many requests with this key have arrived.
func (r *Rules) Requests(key int16) int64 { return read(&r.requests, key) }

// Responses is how many answers to requests with this key have arrived.
func (r *Rules) Responses(key int16) int64 { return read(&r.responses, key) }

// Inspect is the link's inspector: its connections are filtered by these rules.
func (r *Rules) Inspect(c link.Conn, nextUp, nextDown func([]byte)) (up, down link.Filter) {
	shared := &connection{Conn: c, rules: r, open: map[int32]int16{}}
	return &direction{conn: shared, next: nextUp}, &direction{conn: shared, response: true, next: nextDown}
}

func (r *Rules) change(change func([]*Rule) []*Rule) {
	r.lock.Lock()
	defer r.lock.Unlock()
	next := change(slices.Clone(*r.active.Load()))
	r.active.Store(&next)
}

// decide counts a frame and returns the rule that acts on it, or nil.
func (r *Rules) decide(key int16, responses bool) *Rule {
	counts := &r.requests
	if responses {
		counts = &r.responses
	}
	counts[key].Add(1)
	var acts *Rule
	for _, rule := range *r.active.Load() {
		if rule.match.Key != key || rule.match.Responses != responses {
			continue
		}
		n := rule.matched.Add(1)
		if acts == nil && (rule.match.Nth == 0 || rule.match.Nth == n) {
			acts = rule
		}
	}
	return acts
}

func read(counts *[keys]atomic.Int64, key int16) int64 {
	if key < 0 || key >= keys {
		return 0
	}
	return counts[key].Load()
}
