package testenv

import (
	"fmt"
	"testing"
	"time"
)

// mostGrace is ample for a clean-up in which nothing hangs.
const mostGrace = 20 * time.Second

// outOfTime ends every wait shortly before go test's -timeout: past that, the process
// is gone at once, and with it what would tell why.
type outOfTime struct{ left time.Duration }

func (o *outOfTime) Error() string {
	return fmt.Sprintf("go test's -timeout is over in %v, so the test was given up while there is time for its evidence: "+
		"give it more with -timeout", o.left.Round(time.Millisecond))
}

// heedDeadline gives the test up when little is left until go test's own deadline.
func (e *Env) heedDeadline(t testing.TB) {
	limited, is := t.(interface{ Deadline() (time.Time, bool) })
	if !is {
		return // a benchmark has none
	}
	var bounded bool
	if e.deadline, bounded = limited.Deadline(); !bounded {
		return
	}
	left := time.Until(e.deadline)
	grace := min(mostGrace, left/10)
	e.alarm = time.AfterFunc(left-grace, func() { e.cancel(&outOfTime{grace}) })
}

// affordable shortens a limit of the clean-up, so that what comes after it has time as well.
func (e *Env) affordable(limit time.Duration) time.Duration {
	if e.deadline.IsZero() {
		return limit
	}
	return max(min(limit, time.Until(e.deadline)/4), 100*time.Millisecond)
}
