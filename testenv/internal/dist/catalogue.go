package dist

import "fmt"

const (
	kafkaGroup    = "org.apache.kafka"
	pulsarGroup   = "org.apache.pulsar"
	rocketmqGroup = "org.apache.rocketmq"
)

// simpleLogger is the log binding for brokers that bring none: without one they
// run, but say nothing. 1.7.36 is the last of the slf4j API they were built with.
var simpleLogger = Coordinate{"org.slf4j", "slf4j-simple", "1.7.36"}

// xmlBinding has a class that Kafka 0.10.1 to 0.11 make the cluster's ID with, and
// that Java has had no more since 11.
var xmlBinding = Coordinate{"javax.xml.bind", "jaxb-api", "2.3.1"}

// olderZooKeeper is the one of Kafka 1.1. The client of 3.4.13 and 3.4.14, which Kafka
// 2.0 to 2.3 ask for, does not find its server on Java 14 and newer (ZOOKEEPER-3779).
var olderZooKeeper = Coordinate{"org.apache.zookeeper", "zookeeper", "3.4.10"}

// Pulsar is the bill of a Pulsar broker with all that standalone needs.
func Pulsar(version string) (Bill, error) {
	if err := checkVersion("pulsar", version); err != nil {
		return Bill{}, err
	}
	return Bill{
		Broker:  "pulsar",
		Version: version,
		// Without Pulsar's own dependencyManagement the version ranges inside
		// gRPC conflict, and Maven 3.8 searches for ever instead of saying so.
		Imports:   []Coordinate{{pulsarGroup, "pulsar", version}},
		Artifacts: []Coordinate{{pulsarGroup, "pulsar-broker", version}},
	}, nil
}

// Kafka is the bill of a Kafka broker, with its ZooKeeper in the versions that
// need one. The oldest that is taken is 0.8.0.
func Kafka(version string) (Bill, error) {
	if err := checkVersion("kafka", version); err != nil {
		return Bill{}, err
	}
	r, err := parseRelease(version)
	if err != nil {
		return Bill{}, err
	}
	if r.before(0, 8) {
		return Bill{}, fmt.Errorf("take a version of kafka: %q is older than 0.8.0, the first in Maven repositories", version)
	}
	bill := Bill{
		Broker:    "kafka",
		Version:   version,
		Artifacts: []Coordinate{{kafkaGroup, "kafka_" + scalaOf(r), version}},
	}
	if !r.before(0, 10, 1) && r.before(1, 0) {
		bill.Artifacts = append(bill.Artifacts, xmlBinding)
	}
	if !r.before(2, 0) && r.before(2, 4) {
		bill.Pins = append(bill.Pins, olderZooKeeper)
	}
	// Up to 1.0 Kafka depends on slf4j-log4j12, and two bindings would fight.
	if !r.before(1, 1) {
		bill.Artifacts = append(bill.Artifacts, simpleLogger)
	}
	return bill, nil
}

// scalaOf picks the newest Scala that a Kafka release was published for, the
// same for all releases of a line.
func scalaOf(r release) string {
	switch {
	case r.before(0, 9):
		return "2.10"
	case r.before(0, 10, 1, 1):
		return "2.11"
	case r.before(2, 4):
		return "2.12"
	default:
		return "2.13"
	}
}

// RocketMQ is the bill of name server, broker, gRPC proxy and admin tools.
// With a brokerVersion that differs the broker's own modules come from there,
// as half-way through a rolling upgrade; empty means version. The oldest that is
// taken is 5.1.
func RocketMQ(version, brokerVersion string) (Bill, error) {
	if brokerVersion == "" {
		brokerVersion = version
	}
	for _, v := range []string{version, brokerVersion} {
		if err := checkVersion("rocketmq", v); err != nil {
			return Bill{}, err
		}
		if Before(v, 5, 1) {
			return Bill{}, fmt.Errorf("take a version of rocketmq: %q is older than 5.1: 4 has no gRPC proxy, and the broker of 5.0 takes ports that it was not given", v)
		}
	}
	bill := Bill{Broker: "rocketmq", Version: version}
	if version == brokerVersion {
		for _, module := range []string{"broker", "namesrv", "proxy", "tools"} {
			bill.Artifacts = append(bill.Artifacts, rocketmq(module, version))
		}
		return bill, nil
	}
	bill.Version = version + mixed + brokerVersion
	for _, module := range []string{"broker", "store", "remoting", "common", "controller", "tiered-store"} {
		c := rocketmq(module, brokerVersion)
		bill.Pins = append(bill.Pins, c)
		bill.Artifacts = append(bill.Artifacts, c)
	}
	// The newer broker asks for its own release of every other module, which a
	// repository may not have yet, and which would not be the old half.
	for _, module := range []string{"acl", "auth", "client", "filter", "namesrv", "proxy", "srvutil", "tools"} {
		bill.Pins = append(bill.Pins, rocketmq(module, version))
	}
	for _, module := range []string{"namesrv", "proxy", "tools"} {
		bill.Artifacts = append(bill.Artifacts, rocketmq(module, version))
	}
	return bill, nil
}

func rocketmq(module, version string) Coordinate {
	return Coordinate{rocketmqGroup, "rocketmq-" + module, version}
}
