package evidence

// Verdict is the outcome of a case.
type Verdict string

// The four verdicts.
const (
	Recovered    Verdict = "recovered"
	NotRecovered Verdict = "not recovered"
	Environment  Verdict = "environment"
	NotRun       Verdict = "not run"
)

// Fault says who is to blame for a case that did not recover.
type Fault string

// A case is blamed on the client if a fresh client could do what the one
// under test could not, on the broker if it could not either, and on nobody if
// that was not asked, as while a fault still lies on the broker.
const (
	Client  Fault = "client"
	Broker  Fault = "broker"
	Unknown Fault = "unknown"
)

// The reasons of a test that failed by an assertion of its own, whose words only the
// output of go test has.
const (
	Asserted            = "an assertion of the test failed"
	Panicked            = "the test panicked at " // and where
	AssertedBeforeFault = "an assertion failed before any fault was injected"
)
