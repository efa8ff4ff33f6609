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
	groupID  = "group"
	isLetIn  = "the member is let in and reads"
	isClosed = "the close returns"

	asksOnToJoin = "let in after 46.4 s, its session timeout of 45 s and a second: another broker has the group once the one that hangs is fenced, but the client asks the one that hangs; a fresh member is let in at once"
	waitsForJoin = "returns 46.1 s after it was called: it waits for the join that was left, and the join for the coordinator that hangs, for the session timeout of 45 s"
)

// joining is a scene with a member that asks to be let in while the coordinator hangs.
type joining struct {
	*scene
	member *kgo.Client
	reader *reader
}

func newJoining(t *testing.T, env *testenv.Env) *joining {
	t.Helper()
	// 9 s by default. The one that hangs is to be the coordinator yet when the member asks, and
	// a client whose seeds hang asks late.
	j := &joining{scene: newScene(t, env, testenv.KafkaSpec{Brokers: 3, Config: map[string]string{
		"broker.session.timeout.ms": "15000", "broker.heartbeat.interval.ms": "2000",
	}})}
	first := j.joins("first")
	j.healthy("a record is stored", produces(j.plain, "before"), j.reads("a member", first))
	first.CloseAllowingRebalance()

	j.hangs(j.kafka.Node(j.coordinator(ofGroup, j.id(groupID))).Pause())
	j.member = j.joins("member")
	j.reader = j.reads("the member", j.member)
	return j
}

// joins is a member of the group.
func (s *scene) joins(name string) *kgo.Client { return s.client(name, s.member(groupID)...) }

// member are the options of a client that joins a group, commits nothing and notices a
// silent broker after two seconds.
func (s *scene) member(group string) []kgo.Opt {
	return []kgo.Opt{
		kgo.ConsumeTopics(s.orders), kgo.ConsumerGroup(s.id(group)),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(),
		kgo.RequestTimeoutOverhead(2 * time.Second), kgo.RetryBackoffFn(promptly),
	}
}

// freshJoins is the witness of a member that is not let in.
func (s *scene) freshJoins(group string) testenv.Probe {
	return func(ctx context.Context) error { return s.witnessReads(ctx, []string{"before"}, s.member(group)...) }
}

// The broker that hangs is fenced after 15 s here. Another has the group then, and lets a member
// in at once.
func TestMemberIsLetInByBrokerThatTakesOver(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:   "kafkatxn/join-takeover",
		Claim:  "a member that joins while its group's coordinator hangs is let in by the broker that takes over",
		Client: underTest,
		KnownBad: []testenv.Combination{
			{Client: "v1.22.3", Broker: "3.9.2", Evidence: asksOnToJoin, Fails: isLetIn, Open: notReported},
			{Client: "v1.22.3", Broker: "4.4.0", Evidence: asksOnToJoin, Fails: isLetIn, Open: notReported},
		},
	})
	j := newJoining(t, env)
	env.Witness("a fresh member is let in and reads", j.freshJoins(groupID))
	env.Recovers(isLetIn, 30*time.Second, j.reader.hasRead("before"))
}

// Close waits for the group to be left. The client's documentation says that it returns at
// once after LeaveGroupContext with a context that has ended.
func TestMemberIsClosedWhileItJoins(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:   "kafkatxn/close-while-joining",
		Claim:  "a member whose group's coordinator hangs while it joins is closed at once after leaving with a context that has ended",
		Client: underTest,
		KnownBad: []testenv.Combination{
			{Client: "v1.22.3", Broker: "3.9.2", Evidence: waitsForJoin, Fails: isClosed, Open: notReported},
			{Client: "v1.22.3", Broker: "4.4.0", Evidence: waitsForJoin, Fails: isClosed, Open: notReported},
		},
	})
	j := newJoining(t, env)
	// A member that has not begun to join has nothing to wait for.
	env.Within("the member asks to be let in", 12*time.Second, func(context.Context) error {
		if env.Log("member").Count("joining group") == 0 {
			return errors.New("its log does not say so")
		}
		return nil
	})
	var closed atomic.Bool
	env.Go(func(ctx context.Context) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_ = j.member.LeaveGroupContext(ended) // the context's own error
		j.member.CloseAllowingRebalance()
		closed.Store(true)
	})
	env.Witness("a fresh member of another group is let in and reads", j.freshJoins("other"))
	env.Recovers(isClosed, 20*time.Second, func(context.Context) error {
		if !closed.Load() {
			return errors.New("it has not returned")
		}
		return nil
	})
}
