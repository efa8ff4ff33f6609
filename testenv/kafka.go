package testenv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/link"
	"github.com/brokerfault/brokerfault/testenv/internal/link/kafkawire"
)

// KafkaSpec says which Kafka to start. Its zero value is one broker of the
// version in BROKERFAULT_KAFKA, tuned for tests.
type KafkaSpec struct {
	// Version is any from 0.8.0 on that Maven Central has; empty is
	// BROKERFAULT_KAFKA, else 3.9.2. Versions before 3.3 run with a ZooKeeper.
	Version string
	// Brokers is how many there are; zero is one. With three, topics have three
	// replicas and two of them have to be in sync for a write.
	Brokers int
	// Config are settings of server.properties, on top of the test's own; a
	// setting with an empty value is left out. Topics are not created by
	// themselves unless auto.create.topics.enable says so.
	Config map[string]string
	// DataLimit gives each broker's log directory a file system of its own,
	// of so many bytes, in memory: what [Broker.FillDisk] needs. The data outlive Kill and
	// Restart: a second container, NAME-disk, keeps them. Zero is none. It takes
	// containers; in processes the start is refused. 256 MiB (256 << 20) is what the
	// tests take.
	DataLimit int64
}

// Kafka is a running Kafka cluster.
type Kafka struct {
	*Broker
	version string
	brokers int
	wire    *kafkawire.Rules
}

// StartKafka starts a Kafka of this Env's own, or takes over the one of an earlier test
// (Case.Shares), and returns once every broker, asked
// for metadata at the address that it advertises, names all brokers with their
// addresses, and the internal topics of groups and transactions have leaders. If it
// does not start, the test ends with the verdict environment and the brokers' last
// log lines.
func (e *Env) StartKafka(spec KafkaSpec) *Kafka {
	e.t.Helper()
	if spec.Version == "" {
		spec.Version = e.settings.Kafka
	}
	if spec.Brokers == 0 {
		spec.Brokers = 1
	}
	k := &Kafka{version: spec.Version, brokers: spec.Brokers, wire: kafkawire.New()}
	p, err := k.plan(spec)
	if err != nil {
		e.environment("start kafka: %v", err)
	}
	p.spec, p.whole = spec, k
	return e.start(p).plan.whole.(*Kafka)
}

func (k *Kafka) plan(spec KafkaSpec) (plan, error) {
	bill, err := dist.Kafka(spec.Version)
	if err == nil && (spec.Brokers < 0 || spec.Brokers > 9) {
		err = fmt.Errorf("%d brokers: there can be 1 to 9", spec.Brokers)
	}
	if err != nil {
		return plan{}, err
	}
	nodes, err := limited(broker.Kafka(bill, spec.Brokers, spec.Config), spec.DataLimit, spec.Config, "log.dir", "log.dirs", "metadata.log.dir")
	if err != nil {
		return plan{}, err
	}
	return plan{
		name:    "kafka",
		version: spec.Version,
		setting: "BROKERFAULT_KAFKA=" + spec.Version,
		nodes:   nodes,
		fits: func(runtime string) error {
			if runtime == "container" && spec.Brokers > 1 && broker.KafkaHasOneAddress(spec.Version) {
				return errors.New("before 0.10.2 a broker has one address for clients and brokers alike, " +
					"and the one for clients does not lead from container to container: ask for one broker, or set BROKERFAULT_BACKEND=process")
			}
			return nil
		},
		ready: func(b *Broker) Probe {
			k.Broker = b
			return k.answers
		},
		settled: func(*Broker) Probe { return k.InSync },
		before: func(b *Broker, node string) Probe {
			if node == broker.KafkaZooKeeper || !broker.KafkaHasZooKeeper(spec.Version) {
				return nil
			}
			return b.unregistered(strings.TrimPrefix(node, "kafka-"))
		},
		with: func(c Change) (plan, error) {
			next := spec
			next.Version, next.Config = cmp.Or(c.Version, spec.Version), c.on(spec.Config)
			return k.plan(next)
		},
		tells:   k.tells,
		greet:   map[string]greeting{broker.KafkaClient: kafkaHandshake},
		inspect: func(l *link.Link) { l.Inspect(k.wire.Inspect) },
	}, nil
}

// Version is the version that the brokers were started with first.
func (k *Kafka) Version() string { return k.version }

// Before says whether that version is older than a release: Before(0, 11) is true of
// 0.10.2.2. Missing parts count as zero.
func (k *Kafka) Before(release ...int) bool { return dist.Before(k.version, release...) }

// Addresses are where clients connect: the link in front of each broker, in the
// order of their IDs. They stay the same over restarts.
func (k *Kafka) Addresses() []string {
	all := make([]string, k.brokers)
	for i := range all {
		all[i] = k.link(i + 1)
	}
	return all
}

// Node is one broker of the cluster, with faults that hit it alone. Its ID counts from 1.
func (k *Kafka) Node(id int) *Broker { return k.part(broker.KafkaNode(id)) }

func (k *Kafka) link(id int) string {
	return k.Broker.links[broker.KafkaNode(id)+"/"+broker.KafkaClient].Address()
}

// answers is the readiness probe.
func (k *Kafka) answers(ctx context.Context) error {
	// A broker of 0.8 knows no brokers, itself included, before there is a topic.
	if err := k.coordinates(ctx); err != nil {
		return err
	}
	for id := 1; id <= k.brokers; id++ {
		if err := k.complete(ctx, k.link(id)); err != nil {
			return fmt.Errorf("ask kafka-%d: %w", id, err)
		}
	}
	return nil
}

// InSync is the probe that no partition, the cluster's own included, lacks a replica: one
// that is not in sync, because its broker was away, is none that a partition can be left
// with. A broker alone has none that could be missing.
func (k *Kafka) InSync(ctx context.Context) error {
	known, err := kafkaMetadata(ctx, k.link(1))
	if err != nil {
		return err
	}
	for _, topic := range known.Topics {
		if err := kerr.ErrorForCode(topic.ErrorCode); err != nil {
			return fmt.Errorf("look at %q: %w", *topic.Topic, err)
		}
		for _, p := range topic.Partitions {
			if len(p.ISR) < len(p.Replicas) {
				return fmt.Errorf("of partition %d of %q, %v of the replicas %v are in sync", p.Partition, *topic.Topic, p.ISR, p.Replicas)
			}
		}
	}
	return nil
}

// complete asks one broker for its metadata, which has to name all brokers at
// their links and a leader of every partition.
func (k *Kafka) complete(ctx context.Context, address string) error {
	known, err := kafkaMetadata(ctx, address)
	if err != nil {
		return err
	}
	at := map[int32]string{}
	for _, b := range known.Brokers {
		at[b.NodeID] = net.JoinHostPort(b.Host, fmt.Sprint(b.Port))
	}
	for id := 1; id <= k.brokers; id++ {
		if at[int32(id)] != k.link(id) {
			return fmt.Errorf("it names the brokers %v, and not %d at %s", at, id, k.link(id))
		}
	}
	for _, topic := range known.Topics {
		for _, p := range topic.Partitions {
			if p.Leader < 0 {
				return fmt.Errorf("partition %d of %q has no leader", p.Partition, *topic.Topic)
			}
		}
	}
	return nil
}

// coordinates finds the coordinators, which makes the internal topics.
func (k *Kafka) coordinates(ctx context.Context) error {
	if dist.Before(k.version, 0, 8, 2) {
		return nil // there is nothing to ask for
	}
	if err := kafkaCoordinator(ctx, k.link(1), kafkaGroupCoordinator); err != nil {
		return fmt.Errorf("find the coordinator of a group: %w", err)
	}
	if dist.Before(k.version, 0, 11) {
		return nil
	}
	if err := kafkaCoordinator(ctx, k.link(1), kafkaTransactionCoordinator); err != nil {
		return fmt.Errorf("find the coordinator of a transaction: %w", err)
	}
	return nil
}
