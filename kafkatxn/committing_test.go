package kafkatxn

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

const (
	commitID = "committing"
	// commitBound is how long a commit may take to return from its fault's end on.
	commitBound = 30 * time.Second
	asReported  = "what shows is what was reported: all or nothing, once"
)

// inTransaction are the records of the transaction in whose commit a fault falls.
var inTransaction = []string{"one", "two", "three"}

// committing is a scene with an open transaction, all records of which are stored.
type committing struct {
	*scene
	client    *kgo.Client
	committed *reader
	// outcome is what the commit returned.
	outcome atomic.Pointer[commitOutcome]
}

type commitOutcome struct{ err error }

func newCommitting(t *testing.T, env *testenv.Env, spec testenv.KafkaSpec) *committing {
	t.Helper()
	s := newScene(t, env, spec)
	c := &committing{
		scene:     s,
		client:    s.committer("client"),
		committed: s.reader("read_committed", kgo.ReadCommitted(), s.orders),
	}
	s.healthy("the client commits", testenv.AtOnce(commits(c.client, "before")), c.committed)
	env.Within("a transaction is open", 10*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		return opens(ctx, c.client, inTransaction...)
	}))
	return c
}

// committer is a client that notices a silent broker after two seconds.
func (s *scene) committer(name string) *kgo.Client { return s.client(name, s.committing()...) }

func (s *scene) committing() []kgo.Opt {
	return append(s.transactional(commitID, time.Minute), kgo.RequestTimeoutOverhead(2*time.Second), kgo.RetryBackoffFn(promptly))
}

// rebuiltCommits is the witness of a client that does not commit.
func (s *scene) rebuiltCommits(ctx context.Context) error {
	c, err := kgo.NewClient(s.options("witness", s.committing()...)...)
	if err != nil {
		return err
	}
	defer c.Close()
	return commits(c, "witness")(ctx)
}

// promptly is a backoff that tests nobody's patience.
func promptly(int) time.Duration { return 200 * time.Millisecond }

// begins starts the commit, which a fault is to hit.
func (c *committing) begins(context.Context) error {
	c.env.Go(func(ctx context.Context) {
		// Far beyond the bound: a commit that does not return by itself is a finding.
		ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
		defer cancel()
		c.outcome.Store(&commitOutcome{c.client.EndTransaction(ctx, kgo.TryCommit)})
	})
	return nil
}

// notDone succeeds as long as the commit is not reported as done. It may have returned
// with an error: a client need not wait for its coordinator.
func (c *committing) notDone(context.Context) error {
	if o := c.outcome.Load(); o != nil && o.err == nil {
		return errors.New("the commit was reported as done while nothing could be committed")
	}
	return nil
}

// returned succeeds once the commit has, whatever it says.
func (c *committing) returned(context.Context) error {
	if c.outcome.Load() == nil {
		return errors.New("the commit has not returned")
	}
	return nil
}

// settles wants the commit to return, its outcome to be the one that happened, with all
// records or none, each once, and the producer to go on: the same client after a commit
// that was done, one rebuilt with the same transactional ID after one that was not.
func (c *committing) settles() {
	c.t.Helper()
	c.env.Recovers("the commit returns", commitBound, c.returned)
	shows, reported := []string{"before"}, 0
	next := c.client
	if err := c.outcome.Load().err; err == nil {
		shows, reported = append(shows, inTransaction...), 1
	} else {
		c.env.Note("the commit returned: %v", err)
		c.env.Within("what was not committed is aborted", commitBound, testenv.AtOnce(func(ctx context.Context) error {
			return aborts(ctx, c.client)
		}))
		next = c.rebuilt()
	}
	c.env.Evidence("commit_reported_done", reported)
	c.env.Within("the next transaction is committed", commitBound, commits(next, "next"))
	c.env.Within(asReported, 15*time.Second, c.committed.hasRead(append(shows, "next")...))
}

// rebuilt is a client rebuilt with the same transactional ID.
func (c *committing) rebuilt() *kgo.Client {
	return c.committer("rebuilt")
}
