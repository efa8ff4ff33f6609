package broker

import (
	"fmt"
	"net"
	"path"
	"strconv"
	"strings"
)

// kafkaCluster is the ID that all brokers of a cluster are formatted with: 16
// bytes in base64.
const kafkaCluster = "YnJva2VyZmF1bHQtdGVzdA"

// kafkaData is the directory of the logs, below the node's own.
const kafkaData = "data"

func (k kafka) launch(at Site, id int) Launch {
	file := path.Join(at.Home, "server.properties")
	l := Launch{
		Main: Program{Class: "kafka.Kafka", Args: []string{file}},
		JVM:  append([]string{"-Xms64m", "-Xmx320m"}, kafkaJVM...),
		Files: map[string]string{
			"server.properties": properties(k.defaults(at, id), k.config),
			"log4j.properties":  log4j1,
		},
	}
	if !k.zooKeeper() {
		l.Setup = []Program{{Class: "kafka.tools.StorageTool", Args: []string{"format", "-t", kafkaCluster, "-c", file}}}
		// Neither ports nor voters go into what it writes.
		l.Makes, l.MadeFrom = kafkaData, fmt.Sprintf("%s %s %q", kafkaCluster, KafkaNode(id), properties(k.config, nil))
	}
	return l
}

// defaults are chosen for a test: internal topics of one partition, no waiting
// for members that may come, transactions timed out soon.
func (k kafka) defaults(at Site, id int) map[string]string {
	data := path.Join(at.Home, kafkaData)
	replicas := strconv.Itoa(min(3, k.brokers))
	inSync := strconv.Itoa(min(2, k.brokers))
	c := map[string]string{
		"broker.id":                                strconv.Itoa(id),
		"log.dirs":                                 data,
		"num.network.threads":                      "2",
		"num.io.threads":                           "4",
		"num.partitions":                           "1",
		"default.replication.factor":               replicas,
		"min.insync.replicas":                      inSync,
		"unclean.leader.election.enable":           "false",
		"offsets.topic.num.partitions":             "1",
		"offsets.topic.replication.factor":         replicas,
		"group.initial.rebalance.delay.ms":         "0",
		"group.min.session.timeout.ms":             "1000",
		"transaction.state.log.num.partitions":     "1",
		"transaction.state.log.replication.factor": replicas,
		"transaction.state.log.min.isr":            inSync,
		// A transaction that is over time is looked for every second, not every ten.
		"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
		"share.coordinator.state.topic.num.partitions":                "1",
		"share.coordinator.state.topic.replication.factor":            replicas,
		"share.coordinator.state.topic.min.isr":                       inSync,
		"log.cleaner.dedupe.buffer.size":                              "4194304",
		"log.index.size.max.bytes":                                    "1048576",
		"controlled.shutdown.enable":                                  "true",
		"auto.create.topics.enable":                                   "false",
		// As it is by default from 1.0 on.
		"delete.topic.enable": "true",
	}
	k.listen(c, at)
	if k.zooKeeper() {
		c["zookeeper.connect"] = at.Peer(KafkaZooKeeper, KafkaZooKeeper)
		c["zookeeper.connection.timeout.ms"] = "30000"
		c["zookeeper.session.timeout.ms"] = "4000"
		return c
	}
	delete(c, "broker.id")
	c["node.id"] = strconv.Itoa(id)
	c["process.roles"] = "broker,controller"
	c["controller.listener.names"] = "CONTROLLER"
	c["broker.session.timeout.ms"] = "4000"
	c["broker.heartbeat.interval.ms"] = "500"
	var voters []string
	for n := 1; n <= k.brokers; n++ {
		voters = append(voters, fmt.Sprintf("%d@%s", n, at.Peer(KafkaNode(n), kafkaController)))
	}
	c["controller.quorum.voters"] = strings.Join(voters, ",")
	// Three controllers on a busy machine need longer than a second for their votes.
	c["controller.quorum.election.timeout.ms"] = "3000"
	return c
}

// listen sets the listeners. Clients are told the link, brokers the broker itself.
func (k kafka) listen(c map[string]string, at Site) {
	link := at.Advertised(KafkaClient)
	on := func(port string) string { return net.JoinHostPort(at.Bind, strconv.Itoa(at.Port(port))) }
	if k.oneAddress() {
		// advertised.* and host.name are also read by the versions that have listeners.
		host, port, _ := net.SplitHostPort(link)
		c["host.name"] = at.Bind
		c["port"] = strconv.Itoa(at.Port(KafkaClient))
		c["advertised.host.name"] = host
		c["advertised.port"] = port
		return
	}
	c["listeners"] = "CLIENT://" + on(KafkaClient) + ",INTERNAL://" + on(kafkaInternal)
	c["advertised.listeners"] = "CLIENT://" + link + ",INTERNAL://" + at.Peer(at.Node, kafkaInternal)
	c["listener.security.protocol.map"] = "CLIENT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"
	c["inter.broker.listener.name"] = "INTERNAL"
	if !k.zooKeeper() {
		c["listeners"] += ",CONTROLLER://" + on(kafkaController)
	}
}

// kafkaJVM: the serial collector and the first compiler start in the shortest
// time. Old versions log with log4j 1, newer ones with slf4j-simple.
var kafkaJVM = []string{
	"-Xss512k",
	"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError",
	"-Djava.net.preferIPv4Stack=true",
	"-Dlog4j.configuration=file:log4j.properties",
	"-Dorg.slf4j.simpleLogger.showDateTime=true",
	"-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
	"-Dorg.slf4j.simpleLogger.logFile=System.out",
}

// log4j1 writes to standard output, which the runtime keeps.
const log4j1 = `log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{1} - %m%n
`
