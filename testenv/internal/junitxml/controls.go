package junitxml

import (
	"fmt"
	"io"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// WriteControls writes which combinations were as they are listed: a test case for each,
// whose class is the case.
func WriteControls(w io.Writer, all gate.Controls) error {
	s := junit.Testsuite{Name: "controls"}
	for _, c := range all {
		t := junit.Testcase{Name: fmt.Sprintf("%s is listed as %s", c.At, c.Listed()), Classname: c.Case, Time: seconds(0)}
		result := &junit.Result{Message: c.Outcome + ": " + c.Reason, Type: c.Outcome, Data: legal(c.Reason)}
		switch c.Outcome {
		case gate.NotAsListed:
			t.Failure = result
		case gate.NotTold:
			t.Error = result
		}
		s.AddTestcase(t)
	}
	return write(w, together(0, s))
}
