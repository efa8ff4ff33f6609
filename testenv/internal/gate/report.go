package gate

import "github.com/brokerfault/brokerfault/testenv/internal/evidence"

// Cell is what one case showed with one client, broker and runtime.
type Cell struct {
	Case          string `json:"case"`
	Issue         string `json:"issue"`
	Package       string `json:"package"`
	Test          string `json:"test"`
	Client        string `json:"client"`
	ClientVersion string `json:"client_version"`
	Broker        string `json:"broker"`
	BrokerVersion string `json:"broker_version"`
	Runtime       string `json:"runtime"`
	// With are the versions that the run was asked for; empty is those of go.mod and the
	// settings. A case that names its own broker shows the same with several.
	With    string           `json:"with,omitempty"`
	Verdict evidence.Verdict `json:"verdict"`
	AtFault evidence.Fault   `json:"at_fault"`
	// RecoveryMS is nil unless the case recovered and took its time.
	RecoveryMS *int64 `json:"recovery_ms"`
	// BudgetMS is nil if the case never came to its wait for recovery.
	BudgetMS *int64 `json:"budget_ms"`
	// KnownBad is the evidence for which this combination is listed as failing.
	KnownBad string `json:"known_bad,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Replay is the command that runs a failed case again.
	Replay string `json:"replay,omitempty"`
	// Output is the end of what a failed test has printed, where the reason is an
	// assertion of its own.
	Output   string           `json:"output,omitempty"`
	Evidence map[string]int64 `json:"evidence"`
	// SpentMS says where the test's time went: prepare (downloads, images, class
	// archives), queue (other brokers' starts), start, scenario (fault and
	// observation), recovery, cleanup.
	SpentMS map[string]int64 `json:"spent_ms"`
	// Artifacts is the directory of what the test left behind, or empty.
	Artifacts string `json:"artifacts"`
	// ElapsedMS is how long the test took, the broker's start included; 0 if that was not told.
	ElapsedMS int64 `json:"elapsed_ms"`
	// Result is go test's own word: pass, fail, skip, or cut off.
	Result string `json:"result"`

	listing listing
}

// listing is what a case tells of itself in a listing run.
type listing struct{ claim, knownBad, knownGood string }

// Accepted says that go test let the case pass although it did not recover: it
// is listed as known-bad, and no release mends it.
func (c Cell) Accepted() bool { return c.Verdict == evidence.NotRecovered && c.Result == skipped }

// Outcome is what a cell means for the run.
type Outcome string

// The outcomes, the worst first.
const (
	Failed        Outcome = "failed"
	Untold        Outcome = "environment"
	FailsAsListed Outcome = "fails as listed"
	LeftOut       Outcome = "not run"
	Held          Outcome = "recovered"
)

// Outcome sorts the cell by verdict and by what go test made of it.
func (c Cell) Outcome() Outcome {
	switch {
	case c.Accepted():
		return FailsAsListed
	// A claim that holds although it is listed as known-bad fails its test.
	case c.Verdict == evidence.NotRecovered, c.Verdict == evidence.Recovered && c.Result == failed:
		return Failed
	case c.Verdict == evidence.Recovered:
		return Held
	case c.Verdict == evidence.NotRun && c.Result != failed:
		return LeftOut
	}
	return Untold
}

// Failure is a failed test that is no case, or a package without a failed test of its own.
type Failure struct {
	Package string `json:"package"`
	Test    string `json:"test,omitempty"`
	Output  string `json:"output"`
}

// Report is what a run showed.
type Report struct {
	Cells       []Cell    `json:"cells"`
	Failures    []Failure `json:"failures"`
	Environment []Failure `json:"environment"`
	// BuildMS is how long the tests took to compile.
	BuildMS int64 `json:"build_ms"`
	// Interrupted says that the run was told to stop before its end.
	Interrupted bool `json:"interrupted"`

	flagsRefused FlagsRefused
}

// NewReport is a report of nothing yet, whose lists are written as empty in JSON.
func NewReport() *Report {
	return &Report{Cells: []Cell{}, Failures: []Failure{}, Environment: []Failure{}}
}

// The exit codes of a run. 2 is left to a wrong command line.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitEnvironment = 3
	ExitNothingRan  = 4
)

// ExitCode is 1 if a case did not recover or a test failed, else 3 if the
// environment kept something from being told, else 4 if no case ran, else 0. A
// case that was not run changes nothing where another did, unless go test
// failed it (BROKERFAULT_REQUIRE=1): then it counts as environment.
func (r *Report) ExitCode() int {
	ran, environment, missing := false, r.Interrupted || len(r.Environment) > 0, false
	for _, c := range r.Cells {
		switch c.Outcome() {
		case Failed:
			return ExitFailed
		case Held, FailsAsListed:
			ran = true
		case Untold:
			environment = environment || c.Verdict == evidence.Environment
			missing = missing || c.Verdict == evidence.NotRun
		}
	}
	switch {
	case len(r.Failures) > 0:
		return ExitFailed
	case environment:
		return ExitEnvironment
	case !ran:
		return ExitNothingRan
	case missing:
		return ExitEnvironment
	}
	return ExitOK
}
