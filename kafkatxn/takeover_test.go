package kafkatxn

import (
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

const (
	returnsInTime = "the commit returns while two brokers are there"
	asksOn        = "returns after 31.4 s, an error: a broker was elected 4 s after the pause, but the client asks the one that hangs for all of its RetryTimeout, 30 s by default; " +
		"it forgets a coordinator when a dial fails or another broker's answer says so, not when a request times out; a rebuilt client commits"
)

var takeover = testenv.Case{
	Name:   "kafkatxn/commit-takeover",
	Claim:  "a commit whose coordinator hangs goes to the broker that takes over, and reports what happened: all records or none, once",
	Client: underTest,
	KnownBad: []testenv.Combination{
		{Client: "v1.22.3", Broker: "3.9.2", Evidence: asksOn, Fails: returnsInTime, Open: notReported},
		{Client: "v1.22.3", Broker: "4.4.0", Evidence: asksOn, Fails: returnsInTime, Open: notReported},
	},
}

// A broker that hangs is fenced after 5 s here, 9 by default (broker.session.timeout.ms),
// and the client's request to it may have timed out once more by then, after 2 s.
func TestCommitLeavesCoordinatorThatHangs(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, takeover)
	c := newCommitting(t, env, three(env))
	c.hangs(c.kafka.Node(c.coordinator(ofTransaction, c.id(commitID))).Pause().Then(c.begins))
	env.Witness("a rebuilt client commits", c.rebuiltCommits)
	env.Recovers(returnsInTime, 20*time.Second, c.returned)
	c.settles()
}
