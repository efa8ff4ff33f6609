package testenv

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

// Env owns everything that a scenario starts. When the test ends, also after a
// failure or a panic, it heals the faults, waits for the goroutines, closes the
// clients, writes the evidence and stops the brokers, in that order. Its
// methods are for the test's goroutine, but for Log and Note, which a probe
// may call as well.
type Env struct {
	t        testing.TB
	c        Case
	settings settings.Settings
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timeline *evidence.Timeline
	logsLock sync.Mutex
	logs     map[string]*evidence.Log

	brokers  []*Broker
	faults   []*Injected
	harmed   bool // a broker was, so that no other test may be given it
	closers  []closer
	work     sync.WaitGroup
	version  string // of the broker
	runtime  string // where it runs
	dir      string // the test's package
	injected int
	judged   int       // how many had been injected at the latest wait that came true
	since    time.Time // the latest heal, or the injection of a one-shot fault
	laid     laid
	witness  *witness
	counted  []counted
	counts   map[string]int
	result   result
	jvm      func(broker string, flags []string) []string // other flags for the brokers' JVMs, if it is not nil
	began    time.Time
	spent    map[phase]time.Duration

	// logsAtFault is how long each node's log was at the first fault.
	logsAtFault map[string]int64
	snapshot    *snapshot

	// deadline is go test's own, if it has one, and alarm what goes off before it.
	deadline time.Time
	alarm    *time.Timer
}

// result is what the test will be reported with.
type result struct {
	verdict evidence.Verdict
	atFault evidence.Fault
	reason  string
	took    time.Duration
	budget  time.Duration
}

type closer struct {
	name  string
	close func(ctx context.Context) error
}

// New begins a scenario. It fails the test if a setting is wrong.
func New(t testing.TB, c Case) *Env {
	t.Helper()
	e := &Env{
		t: t, c: c, timeline: evidence.NewTimeline(),
		logs: map[string]*evidence.Log{}, counts: map[string]int{},
		began: time.Now(), spent: map[phase]time.Duration{},
	}
	e.dir, _ = os.Getwd()
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	t.Attr("case", c.Name)
	if c.Issue != "" {
		t.Attr("issue", c.Issue)
	}
	t.Attr("client", c.Client.Module)
	t.Attr("client_version", c.Client.Version())
	e.heedDeadline(t)
	t.Cleanup(e.cleanup)
	s, err := settings.FromEnvironment()
	if err != nil {
		e.environment("read the settings: %v", err)
	}
	e.settings = s
	if s.List {
		e.list()
		e.NotRun("BROKERFAULT_LIST=1 only lists")
	}
	e.say("case", "%s: %s", c.Name, c.Claim)
	e.say("client", "%s %s", c.Client.Module, c.Client.Version())
	return e
}

// Context ends with the test, as soon as a broker dies unasked, and shortly before go
// test's -timeout.
func (e *Env) Context() context.Context { return e.ctx }

// Full says whether the profile is the original experiment's timings.
func (e *Env) Full() bool { return e.settings.Profile == "full" }

// ByProfile picks a duration by the profile.
func (e *Env) ByProfile(fast, full time.Duration) time.Duration {
	if e.Full() {
		return full
	}
	return fast
}

// Go runs f on a goroutine that the Env waits for. Its context ends with the test.
func (e *Env) Go(f func(ctx context.Context)) { e.work.Go(func() { f(e.ctx) }) }

// Closes registers a client to be closed at the end, before the brokers are
// stopped. A close that does not return within 10 s is noted and left behind.
func (e *Env) Closes(name string, closeClient func()) {
	e.closers = append(e.closers, closer{name, func(context.Context) error {
		closeClient()
		return nil
	}})
}

// Log is the named client's log, kept with the evidence. Its lines can be counted.
func (e *Env) Log(name string) *evidence.Log {
	e.logsLock.Lock()
	defer e.logsLock.Unlock()
	if e.logs[name] == nil {
		e.logs[name] = &evidence.Log{}
	}
	return e.logs[name]
}

// Evidence records a count that the report shows.
func (e *Env) Evidence(name string, n int) {
	e.counts[name] = n
	e.say("evidence", "%s: %d", name, n)
}

// Note writes to the timeline.
func (e *Env) Note(format string, args ...any) { e.say("note", format, args...) }

// NotRun ends the test with the verdict "not run" and the reason. With
// BROKERFAULT_REQUIRE=1 that is a failure.
func (e *Env) NotRun(format string, args ...any) {
	e.t.Helper()
	e.decide(result{verdict: evidence.NotRun, reason: fmt.Sprintf(format, args...)})
	if e.settings.Require && !e.settings.List {
		e.t.Fatalf("not run, and BROKERFAULT_REQUIRE=1 asks for every test to run: %s", e.result.reason)
	}
	e.t.Skipf("not run: %s", e.result.reason)
}

// say writes a line to the timeline and to the test's log.
func (e *Env) say(kind, format string, args ...any) {
	e.t.Helper()
	e.sayWait(nil, kind, format, args...)
}

// sayWait says the beginning or the end of a wait.
func (e *Env) sayWait(w *evidence.Wait, kind, format string, args ...any) {
	e.t.Helper()
	e.t.Log(e.timeline.AddWait(w, kind, format, args...))
}

// decide keeps the first verdict.
func (e *Env) decide(r result) {
	if e.result.verdict == "" {
		e.result = r
	}
}

// environment ends the test: not the product's fault.
func (e *Env) environment(format string, args ...any) {
	e.t.Helper()
	reason := fmt.Sprintf(format, args...)
	e.decide(result{verdict: evidence.Environment, reason: reason})
	e.timeline.Add("verdict", "environment: %s", reason)
	e.preserve()
	e.t.Fatalf("environment: %s", reason)
}

// broken ends the test: the claim did not hold.
func (e *Env) broken(r result) {
	e.t.Helper()
	r.verdict = evidence.NotRecovered
	e.decide(r)
	e.timeline.Add("verdict", "not recovered: %s", r.reason)
	e.preserve()
	if bad, is := e.knownBad(); is {
		e.t.Attr("known_bad", oneLine(bad.Evidence))
		if bad.Open != "" && bad.Fails != "" && strings.HasPrefix(r.reason, bad.Fails+": ") {
			e.t.Skipf("not recovered, as listed: %s\nknown-bad, no release mends it: %s (%s)", r.reason, bad.Evidence, bad.Open)
		}
		r.reason += "\nlisted as known-bad: " + bad.Evidence
	}
	e.t.Fatal(r.reason)
}

func (e *Env) knownBad() (Combination, bool) {
	return listed(e.c.KnownBad, e.c.Client.Version(), e.version)
}

// budget is how long a wait may take. One that is listed to fail is not given more time on
// a slow machine: the defect may be over by then.
func (e *Env) budget(claim string, d time.Duration) time.Duration {
	if bad, is := e.knownBad(); is && bad.Fails == claim {
		return d
	}
	return e.scaled(d)
}

func (e *Env) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * e.settings.Scale)
}
