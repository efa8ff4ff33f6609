package dist

import (
	"fmt"
	"strings"
)

// mixed stands between the versions of RocketMQ's name server and proxy and of its broker.
const mixed = "-broker-"

// restOf are broker releases that are run with name server and proxy of another
// one: 5.5.1 mends the broker, and not every repository has the rest of it.
var restOf = map[string]string{"5.5.1": "5.5.0"}

// RocketMQVersions splits a version as BROKERFAULT_ROCKETMQ takes it ("5.5.0-broker-5.5.1",
// or the broker's alone) into that of name server and proxy and that of the broker. With a
// brokerVersion that is the broker's, and the rest is of exactly version.
func RocketMQVersions(version, brokerVersion string) (rest, broker string) {
	rest, broker, _ = strings.Cut(version, mixed)
	switch {
	case brokerVersion != "":
		return rest, brokerVersion
	case broker != "":
		return rest, broker
	case restOf[rest] != "":
		return restOf[rest], rest
	}
	return rest, rest
}

// Named is the bill of a broker by its name, "kafka", "pulsar" or "rocketmq", in a version
// as its setting takes it.
func Named(broker, version string) (Bill, error) {
	switch broker {
	case "kafka":
		return Kafka(version)
	case "pulsar":
		return Pulsar(version)
	case "rocketmq":
		return RocketMQ(RocketMQVersions(version, ""))
	}
	return Bill{}, fmt.Errorf("there is no broker %q", broker)
}

// RocketMQSetting is the value of BROKERFAULT_ROCKETMQ that gives these versions.
func RocketMQSetting(version, brokerVersion string) string {
	if v, b := RocketMQVersions(brokerVersion, ""); v == version && b == brokerVersion {
		return brokerVersion
	}
	return version + mixed + brokerVersion
}
