package kafkatxn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv"
)

// scene is a cluster with a topic and a client that looks at it from outside.
type scene struct {
	t     *testing.T
	env   *testenv.Env
	kafka *testenv.Kafka
	// orders is the topic of most tests. It has one partition.
	orders string
	// own ends the transactional IDs of this test.
	own   string
	admin *kadm.Client
	// plain produces outside of transactions.
	plain *kgo.Client
}

// three are brokers of which two go on without the third, five seconds after it was last
// heard of; nine by default, and in the profile "full".
func three(env *testenv.Env) testenv.KafkaSpec {
	session := env.ByProfile(5*time.Second, 9*time.Second)
	return testenv.KafkaSpec{Brokers: 3, Config: map[string]string{
		"broker.session.timeout.ms": fmt.Sprint(session.Milliseconds()), "broker.heartbeat.interval.ms": "1000",
	}}
}

func newScene(t *testing.T, env *testenv.Env, spec testenv.KafkaSpec) *scene {
	t.Helper()
	s := &scene{t: t, env: env, kafka: env.StartKafka(spec), orders: env.Unique("orders"), own: env.Unique("")}
	s.admin = kadm.NewClient(s.client("admin"))
	s.plain = s.client("plain", kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.AllISRAcks()))
	s.createTopic(s.orders, 1)
	return s
}

func (s *scene) createTopic(name string, partitions int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.env.Context(), 20*time.Second)
	defer cancel()
	require.NoError(s.t, s.kafka.CreateTopic(ctx, name, partitions))
}

// healthy proves that what is stored before the fault is read.
func (s *scene) healthy(stored string, store testenv.Probe, by *reader) {
	s.t.Helper()
	s.env.Within(stored+" before the fault", 10*time.Second, store)
	s.env.Within("it is read", 10*time.Second, by.hasRead("before"))
}

// healthyPlain is healthy with a record outside of any transaction.
func (s *scene) healthyPlain(by *reader) {
	s.t.Helper()
	s.healthy("a record is stored", produces(s.plain, "before"), by)
}

// id is a transactional ID that no other test has.
func (s *scene) id(name string) string { return name + s.own }

// What a coordinator may be of (FindCoordinator's key type).
const (
	ofGroup       int8 = 0
	ofTransaction int8 = 1
)

// coordinator is the ID of the broker that coordinates a group or a transaction.
func (s *scene) coordinator(of int8, key string) int {
	s.t.Helper()
	r := kmsg.NewPtrFindCoordinatorRequest()
	r.CoordinatorType, r.CoordinatorKey, r.CoordinatorKeys = of, key, []string{key}
	ctx, cancel := context.WithTimeout(s.env.Context(), 10*time.Second)
	defer cancel()
	found, err := r.RequestWith(ctx, s.plain)
	require.NoError(s.t, err)
	if len(found.Coordinators) == 1 {
		return int(found.Coordinators[0].NodeID)
	}
	return int(found.NodeID)
}

// hangs injects a fault that the other brokers make up for, so that it is not healed for
// the scenario's sake. It is for the clean-up's: what waits for the broker can end then.
func (s *scene) hangs(fault testenv.Fault) {
	heal := fault.Heal
	fault.Heal = nil
	s.env.Inject(fault)
	s.t.Cleanup(func() { // before that of the Env, which makes up for a heal that fails
		ctx, cancel := context.WithTimeout(s.env.Context(), 10*time.Second)
		defer cancel()
		_ = heal(ctx)
	})
}

// offsets are the end of the topic and its last stable offset (LSO).
func (s *scene) offsets(ctx context.Context) (end, stable int64, err error) {
	ends, err := s.admin.ListEndOffsets(ctx, s.orders)
	if err != nil {
		return 0, 0, fmt.Errorf("list end offsets: %w", err)
	}
	stables, err := s.admin.ListCommittedOffsets(ctx, s.orders)
	if err != nil {
		return 0, 0, fmt.Errorf("list last stable offsets: %w", err)
	}
	e, _ := ends.Lookup(s.orders, 0)
	l, _ := stables.Lookup(s.orders, 0)
	return e.Offset, l.Offset, errors.Join(e.Err, l.Err)
}

// frozen succeeds if the last stable offset is behind the end.
func (s *scene) frozen(ctx context.Context) error {
	end, stable, err := s.offsets(ctx)
	if err != nil {
		return err
	}
	if stable >= end {
		return fmt.Errorf("the last stable offset is %d, the end %d: nothing is open", stable, end)
	}
	return nil
}

// state is what the coordinator says of a transactional ID.
func (s *scene) state(ctx context.Context, id string) (string, error) {
	all, err := s.admin.DescribeTransactions(ctx, s.id(id))
	if err != nil {
		return "", fmt.Errorf("describe the transaction: %w", err)
	}
	d, err := all.On(s.id(id), nil)
	if err != nil {
		return "", fmt.Errorf("describe the transaction: %w", err)
	}
	return d.State, nil
}

// inState succeeds once the coordinator says so.
func (s *scene) inState(id string, want ...string) testenv.Probe {
	return func(ctx context.Context) error {
		got, err := s.state(ctx, id)
		if err != nil {
			return err
		}
		for _, w := range want {
			if got == w {
				return nil
			}
		}
		return fmt.Errorf("the coordinator says %s, not yet %s", got, strings.Join(want, " or "))
	}
}

// open are the transactions that the topic's leader knows as open.
func (s *scene) open(ctx context.Context) ([]kadm.DescribedProducer, error) {
	var set kadm.TopicsSet
	set.Add(s.orders, 0)
	all, err := s.admin.DescribeProducers(ctx, set)
	if err != nil {
		return nil, fmt.Errorf("describe producers: %w", err)
	}
	var open []kadm.DescribedProducer
	for _, p := range all.SortedProducers() {
		if p.CurrentTxnStartOffset >= 0 {
			open = append(open, p)
		}
	}
	return open, nil
}

// stable succeeds if nothing is open on the topic.
func (s *scene) stable(ctx context.Context) error {
	end, stable, err := s.offsets(ctx)
	if err != nil {
		return err
	}
	if stable != end {
		return fmt.Errorf("the last stable offset is %d, the end %d", stable, end)
	}
	return nil
}
