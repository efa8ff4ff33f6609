package testenv

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
)

// Case says what a test claims, where the claim comes from, and where it is
// known to fail and to hold.
type Case struct {
	// Name is "package/claim-in-short", unique in the suite.
	Name string
	// Claim is a sentence: what must hold.
	Claim string
	// Issue is the address of the public report, or empty.
	Issue string
	// Client is the client under test.
	Client Client
	// Shares says that the topics, groups and namespaces of its own (Env.Unique) keep
	// the test apart from others: it may be given a broker that an earlier test of the
	// package has used, and leaves it to a later one unless it failed, left it killed or
	// stopped, filled its disk, or started it with something else, or something of it did
	// not end: a client's close, a goroutine. A Kafka or RocketMQ that was killed and came
	// back is as good as before; a Pulsar, whose bookie may be missing for a moment, is not.
	// A case that does not share has a broker of its own.
	Shares bool
	// KnownBad are combinations in which the claim was seen to fail. A test
	// run with one of them is red.
	KnownBad []Combination
	// KnownGood are combinations in which the claim was seen to hold.
	KnownGood []Combination
}

// list tells the catalogue what New does not tell anyway.
func (e *Env) list() {
	e.t.Helper()
	e.t.Attr("claim", oneLine(e.c.Claim))
	for key, all := range map[string][]Combination{"known_bad_at": e.c.KnownBad, "known_good_at": e.c.KnownGood} {
		text, err := json.Marshal(all)
		if err != nil {
			e.environment("list the combinations: %v", err)
		}
		e.t.Attr(key, string(text))
	}
}

// Combination is a client and a broker version; an empty one stands for any.
type Combination struct {
	Client string `json:"client,omitempty"`
	Broker string `json:"broker,omitempty"`
	// Evidence is what was measured.
	Evidence string `json:"evidence,omitempty"`
	// Fails is the claim of the one wait that fails, as it is given to Within,
	// Holds or Recovers. An open combination needs it: what fails elsewhere is
	// not what is listed. This wait's budget is not scaled.
	Fails string `json:"fails,omitempty"`
	// Open says that no release mends this yet, and where that is told. With an open
	// combination the test is run, its verdict recorded, and a claim that fails as listed is reported as skipped, so that a suite
	// does not stay red for what nobody can upgrade; a claim that holds
	// although it is listed fails, for the entry is wrong.
	Open string `json:"open,omitempty"`
}

// Client names a client library through one of its functions, so that its
// version is the one that the test was built with.
type Client struct {
	// Module is the module path.
	Module string
	// Symbol is any function of the module.
	Symbol any
}

// unversioned is the version of a client that does not come from the module cache.
const unversioned = "unversioned"

var inModuleCache = regexp.MustCompile(`@(v[^/]+)/`)

// Version is the client's version as its source path in the module cache
// tells it: a test binary carries no list of its modules. A client that comes
// from elsewhere (a replace directive, a vendor directory) is "unversioned".
func (c Client) Version() string {
	v := reflect.ValueOf(c.Symbol)
	if v.Kind() != reflect.Func {
		return unversioned
	}
	f := runtime.FuncForPC(v.Pointer())
	if f == nil {
		return unversioned
	}
	file, _ := f.FileLine(v.Pointer())
	if m := inModuleCache.FindStringSubmatch(filepath.ToSlash(file)); m != nil {
		return m[1]
	}
	return unversioned
}

// listed finds the combination that covers these versions.
func listed(all []Combination, client, broker string) (Combination, bool) {
	for _, c := range all {
		if (c.Client == "" || c.Client == client) && (c.Broker == "" || c.Broker == broker) {
			return c, true
		}
	}
	return Combination{}, false
}
