package broker

import (
	"path"
	"strconv"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
)

// zooKeeper is the one that a bill of Kafka brings with it.
func zooKeeper(bill dist.Bill) Node {
	return Node{
		Name: KafkaZooKeeper,
		// A broker hands its partitions over before it ends.
		StopsLast: true,
		Bill:      bill,
		Ports:     []Port{{Name: KafkaZooKeeper, Inside: 2181}},
		Launch: func(at Site) Launch {
			file := path.Join(at.Home, "zookeeper.properties")
			return Launch{
				Main: Program{Class: "org.apache.zookeeper.server.quorum.QuorumPeerMain", Args: []string{file}},
				JVM: append([]string{
					"-Xms32m", "-Xmx96m", "-Dzookeeper.jmx.log4j.disable=true", "-Dzookeeper.admin.enableServer=false",
				}, kafkaJVM...),
				Files: map[string]string{
					"zookeeper.properties": properties(map[string]string{
						"dataDir":           path.Join(at.Home, "data"),
						"clientPortAddress": at.Bind,
						"clientPort":        strconv.Itoa(at.Port(KafkaZooKeeper)),
						"tickTime":          "1000",
						"maxClientCnxns":    "0",
						// The command that tells which brokers are registered.
						"4lw.commands.whitelist": "dump",
					}, nil),
					"log4j.properties": log4j1,
				},
			}
		},
	}
}
