package kafkatxn

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv"
)

const commitIssue = "https://github.com/twmb/franz-go/issues/855"

// commitHolds is where the claims about commits were seen to hold.
var commitHolds = []testenv.Combination{{Client: "v1.22.3", Broker: "3.9.2"}, {Client: "v1.22.3", Broker: "4.4.0"}}

func TestCommitOutlastsPausedCoordinator(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:      "kafkatxn/commit-paused",
		Claim:     "a commit while its coordinator hangs returns within its bound and reports what happened: all records or none, once",
		Issue:     commitIssue,
		Client:    underTest,
		Shares:    true,
		KnownGood: commitHolds,
	})
	c := newCommitting(t, env, testenv.KafkaSpec{})
	paused := env.Inject(c.kafka.Pause().Then(c.begins))
	env.Holds("the commit is not reported as done", 5*time.Second, c.notDone)
	paused.Heal()
	c.settles()
}

func TestCommitOutlastsKilledCoordinator(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:      "kafkatxn/commit-killed",
		Claim:     "a commit while its coordinator is gone returns within its bound and reports what happened: all records or none, once",
		Issue:     commitIssue,
		Client:    underTest,
		Shares:    true,
		KnownGood: commitHolds,
	})
	c := newCommitting(t, env, testenv.KafkaSpec{})
	killed := env.Inject(c.kafka.Kill().Then(c.begins))
	env.Holds("the commit is not reported as done", 2*time.Second, c.notDone)
	killed.Heal()
	c.settles()
}

// TestCommitIsReportedThatKilledCoordinatorHadTaken has the coordinator end between its
// decision and the answer.
func TestCommitIsReportedThatKilledCoordinatorHadTaken(t *testing.T) {
	t.Parallel()
	const abortedToo = "the commit returns an error after 2.7 s of refused connections, the abort that the client's documentation asks for returns none, " +
		"and the records are committed: whoever repeats them has them twice"
	env := testenv.New(t, testenv.Case{
		Name:   "kafkatxn/commit-killed-after",
		Claim:  "a commit that its coordinator takes, and is killed before the answer, returns within its bound and reports what happened: all records or none, once",
		Issue:  commitIssue,
		Client: underTest,
		Shares: true,
		KnownBad: []testenv.Combination{
			{Client: "v1.22.3", Broker: "3.5.1", Evidence: abortedToo, Fails: asReported, Open: notReported},
			{Client: "v1.22.3", Broker: "3.9.2", Evidence: abortedToo, Fails: asReported, Open: notReported},
			{Client: "v1.22.3", Broker: "4.4.0", Evidence: abortedToo, Fails: asReported, Open: notReported},
		},
	})
	c := newCommitting(t, env, testenv.KafkaSpec{})
	// Swallowed, not held: what is held comes out of a connection that ends.
	missing := env.Inject(c.kafka.Drop(firstAnswer).Then(c.begins))
	killed := env.Inject(c.kafka.Kill())
	env.Holds("the commit is not reported as done", 2*time.Second, c.notDone)
	missing.Heal()
	killed.Heal()
	env.Witness("the coordinator had committed: a fresh consumer reads the records", c.freshReads(append([]string{"before"}, append(inTransaction, "next")...)...))
	c.settles()
}

// firstAnswer is the answer to the commit.
var firstAnswer = testenv.KafkaFrames{Key: kmsg.EndTxn.Int16(), Answers: true, Nth: 1}

func TestCommitIsReportedWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	withoutAnswer(t, testenv.Case{
		Name:      "kafkatxn/commit-answer-lost",
		Claim:     "a commit whose answer is lost with its connection returns within its bound and reports what happened: all records or none, once",
		Issue:     commitIssue,
		Client:    underTest,
		Shares:    true,
		KnownGood: commitHolds,
	}, (*testenv.Kafka).Lose)
}

func TestCommitIsReportedWhoseAnswerNeverCame(t *testing.T) {
	t.Parallel()
	withoutAnswer(t, testenv.Case{
		Name:      "kafkatxn/commit-answer-dropped",
		Claim:     "a commit whose answer never comes on a connection that stays returns within its bound and reports what happened: all records or none, once",
		Issue:     commitIssue,
		Client:    underTest,
		Shares:    true,
		KnownGood: commitHolds,
	}, (*testenv.Kafka).Drop)
}

// withoutAnswer commits while the first answer is kept from the client.
func withoutAnswer(t *testing.T, k testenv.Case, fault func(*testenv.Kafka, testenv.KafkaFrames) testenv.Fault) {
	t.Helper()
	for _, version := range testenv.KafkaVersions("4.4.0") {
		t.Run(version, func(t *testing.T) {
			env := testenv.New(t, k)
			c := newCommitting(t, env, testenv.KafkaSpec{Version: version})
			missing := env.Inject(fault(c.kafka, firstAnswer).Then(c.begins))
			missing.Heal()
			c.settles()
		})
	}
}

func TestCommitGoesToCoordinatorThatTakesOver(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:      "kafkatxn/commit-failover",
		Claim:     "a commit whose coordinator is killed, with two brokers left, returns within its bound and reports what happened: all records or none, once",
		Issue:     commitIssue,
		Client:    underTest,
		KnownGood: commitHolds,
	})
	c := newCommitting(t, env, three(env))
	failover := c.kafka.Node(c.coordinator(ofTransaction, c.id(commitID))).Kill().Then(c.begins)
	failover.Heal = nil // the others take over
	env.Inject(failover)
	c.settles()
}

// notReported stands where a search found nothing.
const notReported = "seen here, no report of it was found"

// TestSameClientGoesOnAfterAbortOfUnconfirmedCommit is about a commit that returned with an
// error of the network. The client's documentation has it aborted by the same client.
func TestSameClientGoesOnAfterAbortOfUnconfirmedCommit(t *testing.T) {
	t.Parallel()
	const (
		goesOn         = "the same client commits the next transaction"
		fencedByItself = "not recovered in 30 s: the abort reloads the producer ID with its old epoch, which the coordinator's own abort has raised: PRODUCER_FENCED, final for this client; a rebuilt client commits"
	)
	env := testenv.New(t, testenv.Case{
		Name:   "kafkatxn/unconfirmed-commit-same-client",
		Claim:  "a client whose commit was unconfirmed and then aborted commits the next transaction",
		Issue:  commitIssue,
		Client: underTest,
		Shares: true,
		KnownBad: []testenv.Combination{
			{Client: "v1.22.3", Broker: "3.5.1", Evidence: fencedByItself, Fails: goesOn, Open: notReported},
			{Client: "v1.22.3", Broker: "3.9.2", Evidence: fencedByItself, Fails: goesOn, Open: notReported},
		},
		KnownGood: []testenv.Combination{{Client: "v1.22.3", Broker: "4.4.0"}},
	})
	c := newCommitting(t, env, testenv.KafkaSpec{})
	env.Witness("a rebuilt client commits", c.rebuiltCommits)
	killed := env.Inject(c.kafka.Kill().Then(c.begins))
	env.Within("the commit returns with an error", commitBound, func(ctx context.Context) error {
		if err := c.returned(ctx); err != nil {
			return err
		}
		return c.notDone(ctx)
	})
	killed.Heal()
	env.Within("what was not committed is aborted", commitBound, testenv.AtOnce(func(ctx context.Context) error { return aborts(ctx, c.client) }))
	env.Recovers(goesOn, env.ByProfile(10*time.Second, commitBound), commits(c.client, "next"))
	env.Within("only the next shows", 15*time.Second, c.committed.hasRead("before", "next"))
}
