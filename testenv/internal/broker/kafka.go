package broker

import (
	"fmt"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
)

// Names of the nodes and ports of a Kafka cluster.
const (
	// KafkaClient is the port that clients use.
	KafkaClient     = "client"
	kafkaInternal   = "internal"
	kafkaController = "controller"
	// KafkaZooKeeper is the node that versions without KRaft have beside the brokers,
	// and the port that it listens on.
	KafkaZooKeeper = "zookeeper"
)

// KafkaNode is the name of a broker's node; id counts from 1.
func KafkaNode(id int) string { return fmt.Sprintf("kafka-%d", id) }

// kafka is a cluster to be described.
type kafka struct {
	bill    dist.Bill
	brokers int
	config  map[string]string
}

// Kafka is a cluster of brokers. From 3.3, where KRaft is production-ready
// (KIP-833; 2.8 has no transactions in that mode), each is its own controller as
// well; older ones have a ZooKeeper beside them.
func Kafka(bill dist.Bill, brokers int, config map[string]string) []Node {
	k := kafka{bill, brokers, config}
	var nodes []Node
	if k.zooKeeper() {
		nodes = append(nodes, zooKeeper(bill))
	}
	for id := 1; id <= brokers; id++ {
		nodes = append(nodes, k.node(id))
	}
	return nodes
}

// KafkaHasOneAddress says that a broker of this version has one address for
// clients and brokers alike: there are no listener names before 0.10.2 (KIP-103).
func KafkaHasOneAddress(version string) bool { return dist.Before(version, 0, 10, 2) }

// KafkaHasZooKeeper says that this version is run with a ZooKeeper.
func KafkaHasZooKeeper(version string) bool { return dist.Before(version, 3, 3) }

func (k kafka) oneAddress() bool { return KafkaHasOneAddress(k.bill.Version) }
func (k kafka) zooKeeper() bool  { return KafkaHasZooKeeper(k.bill.Version) }

func (k kafka) node(id int) Node {
	ports := []Port{{Name: KafkaClient, Inside: 9092, Client: true, AsAdvertised: k.oneAddress()}}
	if !k.oneAddress() {
		ports = append(ports, Port{Name: kafkaInternal, Inside: 9094})
	}
	if !k.zooKeeper() {
		ports = append(ports, Port{Name: kafkaController, Inside: 9093})
	}
	return Node{
		Name:   KafkaNode(id),
		Bill:   k.bill,
		Ports:  ports,
		Launch: func(at Site) Launch { return k.launch(at, id) },
		Data:   kafkaData,
	}
}
