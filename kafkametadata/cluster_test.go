package kafkametadata

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

var leaderMoved = testenv.Case{
	Name:   "kafkametadata/leader-moved",
	Claim:  "when a partition's leader moves, or is killed, its records go on soon, and each is there once and in order",
	Client: underTest,
	Shares: true,
}

var seedCut = testenv.Case{
	Name:   "kafkametadata/seed-cut",
	Claim:  "a client that knows the cluster goes on, and learns new topics, while its only seed broker is cut off",
	Client: underTest,
	Shares: true,
}

var allDown = testenv.Case{
	Name:   "kafkametadata/all-brokers-down",
	Claim:  "after all brokers were down and are back at their addresses the same client sends and reads, and each record is there once and in order",
	Client: underTest,
	Shares: true,
}

// cluster is what these tests start or take over.
func cluster() testenv.KafkaSpec { return testenv.KafkaSpec{Brokers: 3} }

func TestRecordsGoOnWhenTheirLeaderMovesOrIsKilled(t *testing.T) {
	env := testenv.New(t, leaderMoved)
	kafka, orders, _ := withTwoTopics(t, env, cluster())
	knowsMoves(env, kafka)
	a := newAdmin(t, env, kafka)
	c := underTestIn(t, env, kafka)
	streams := startStreams(env, c, orders)
	s := streams[0]
	leader := a.leader(t, orders)
	for range 2 {
		leader = leader%3 + 1
		s.restarts()
		env.Inject(a.moved(orders, leader))
		env.Recovers("the records go on at the new leader", 10*time.Second, s.goesOn())
		env.Note("the longest gap was %v", s.longestGap())
	}
	s.restarts()
	killed := env.Inject(kafka.Node(int(leader)).Kill())
	env.Within("the records go on at another leader", 20*time.Second, s.goesOn())
	env.Evidence("longest_gap_ms_killed", int(s.longestGap().Milliseconds()))
	killed.Heal()
	env.Recovers("they go on when the killed broker is back", 10*time.Second, s.goesOn())
	readBack(env, kafka, streams...)
}

func TestClientGoesOnWhileItsOnlySeedIsCutOff(t *testing.T) {
	const seed = 1
	env := testenv.New(t, seedCut)
	kafka, orders, invoices := withTwoTopics(t, env, cluster())
	knowsMoves(env, kafka)
	a := newAdmin(t, env, kafka)
	for _, topic := range []string{orders, invoices} {
		if a.leader(t, topic) == seed {
			env.Note("the leader of %s moves away from the seed", called(topic))
			f := a.moved(topic, 2)
			require.NoError(t, f.Apply(env.Context()))
			env.Within(f.Name, 10*time.Second, f.Bites)
		}
	}
	c := underTestIn(t, env, kafka, kgo.SeedBrokers(kafka.Addresses()[:seed]...))
	streams := startStreams(env, c, orders)
	env.Inject(kafka.Node(seed).Cut())
	env.Within("the first record to a new topic is taken", 10*time.Second, c.sends(invoices))
	neverPaused(env, streams)
	readBack(env, kafka, streams...)
}

func TestClientResumesWhenAllBrokersAreBack(t *testing.T) {
	env := testenv.New(t, allDown)
	kafka, orders, invoices := withTwoTopics(t, env, cluster())
	c := underTestIn(t, env, kafka, kgo.ConsumeTopics(orders, invoices))
	streams := startStreams(env, c, orders, invoices)
	r := startReader(env, c)
	addresses := kafka.Addresses()
	down := env.Inject(kafka.Kill())
	first := newFlush(orders)
	first.start(env.Context(), c)
	env.Holds("nothing is taken meanwhile", 2*time.Second, first.isOpen())
	down.Heal()
	require.Equal(t, addresses, kafka.Addresses())
	for _, s := range streams {
		env.Recovers("the stream to "+called(s.topic)+" flows again", 30*time.Second, s.goesOn())
	}
	readBack(env, kafka, streams...)
	env.Within("all that was acknowledged is read by the same client", 30*time.Second, func(ctx context.Context) error {
		var errs error
		for _, s := range streams {
			errs = errors.Join(errs, r.hasRead(s.topic, 1, slices.Max(s.acked))(ctx))
		}
		return errs
	})
}

// leader is the broker that leads the topic's only partition.
func (a admin) leader(t *testing.T, topic string) int32 {
	t.Helper()
	d, err := a.topic(t.Context(), topic)
	require.NoError(t, err)
	return d.Partitions[0].Leader
}
