package dist

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKafkaTakesTheScalaAndTheLoggerOfItsRelease(t *testing.T) {
	for version, want := range map[string]struct {
		artifact string
		more     []Coordinate
		pins     []Coordinate
	}{
		"0.8.2.1":   {"kafka_2.10", nil, nil},
		"0.9.0.1":   {"kafka_2.11", nil, nil},
		"0.10.0.1":  {"kafka_2.11", nil, nil},
		"0.10.1.0":  {"kafka_2.11", []Coordinate{xmlBinding}, nil},
		"0.10.1.1":  {"kafka_2.12", []Coordinate{xmlBinding}, nil},
		"0.11.0.3":  {"kafka_2.12", []Coordinate{xmlBinding}, nil},
		"1.0.0":     {"kafka_2.12", nil, nil},
		"1.1.0":     {"kafka_2.12", []Coordinate{simpleLogger}, nil},
		"2.0.0":     {"kafka_2.12", []Coordinate{simpleLogger}, []Coordinate{olderZooKeeper}},
		"2.3.1":     {"kafka_2.12", []Coordinate{simpleLogger}, []Coordinate{olderZooKeeper}},
		"2.4.0":     {"kafka_2.13", []Coordinate{simpleLogger}, nil},
		"4.4.0":     {"kafka_2.13", []Coordinate{simpleLogger}, nil},
		"4":         {"kafka_2.13", []Coordinate{simpleLogger}, nil},
		"4.4.0-rc1": {"kafka_2.13", []Coordinate{simpleLogger}, nil},
		"10.0.0":    {"kafka_2.13", []Coordinate{simpleLogger}, nil},
	} {
		t.Run(version, func(t *testing.T) {
			bill, err := Kafka(version)
			require.NoError(t, err)
			require.Equal(t, append([]Coordinate{{"org.apache.kafka", want.artifact, version}}, want.more...), bill.Artifacts)
			require.Equal(t, want.pins, bill.Pins)
		})
	}
}

func TestVersionThatIsNotPlainIsRefused(t *testing.T) {
	bad := []string{
		"", "latest", "[3,4)", "../../etc", "3/../../x", "3.0.2\n", "3.0.2</version><x>", "3 0", "3&amp;", "3\x00", "-3", ".3", "3%2e",
		"3" + strings.Repeat("0", 64), "３.0",
	}
	makers := map[string]func(string) (Bill, error){
		"pulsar":          Pulsar,
		"kafka":           Kafka,
		"rocketmq":        func(v string) (Bill, error) { return RocketMQ(v, "5.5.0") },
		"rocketmq broker": func(v string) (Bill, error) { return RocketMQ("5.5.0", v) },
	}
	for broker, maker := range makers {
		for _, version := range bad {
			if broker == "rocketmq broker" && version == "" {
				continue
			}
			_, err := maker(version)
			require.ErrorContains(t, err, "take a version of "+strings.Fields(broker)[0], "%s %q", broker, version)
		}
	}
	_, err := Kafka("0.7.2")
	require.ErrorContains(t, err, "older than 0.8.0")
	for _, old := range [][2]string{{"4.9.8", ""}, {"5.0.0", ""}, {"5.5.0", "5.0.0"}} {
		_, err = RocketMQ(old[0], old[1])
		require.ErrorContains(t, err, "older than 5.1")
	}
	_, err = Kafka("9" + strings.Repeat("9", 40))
	require.ErrorContains(t, err, "read the version")
}

func TestPOMReadsBackAsTheBill(t *testing.T) {
	bill, err := Pulsar("3.0.2")
	require.NoError(t, err)
	project := parse(t, bill)
	require.Equal(t, "pom", project.Packaging)
	require.Equal(t, "http://maven.apache.org/POM/4.0.0", project.Namespace)
	require.Equal(t, []pomDependency{{"org.apache.pulsar", "pulsar", "3.0.2", "pom", "import"}}, project.Managed)
	require.Equal(t, []pomDependency{{Group: "org.apache.pulsar", Artifact: "pulsar-broker", Version: "3.0.2"}}, project.Dependencies)

	bill, err = Kafka("1.0.0")
	require.NoError(t, err)
	require.Empty(t, parse(t, bill).Managed)
}

func TestNewerBrokerIsPinnedAndTheRestStays(t *testing.T) {
	bill, err := RocketMQ("5.5.0", "5.5.1")
	require.NoError(t, err)
	require.Equal(t, "5.5.0-broker-5.5.1", bill.Version)
	project := parse(t, bill)
	managed := map[string]string{}
	for _, d := range project.Managed {
		require.NotContains(t, managed, d.Artifact)
		managed[d.Artifact] = d.Version
	}
	for _, module := range []string{"broker", "store", "remoting", "common", "controller", "tiered-store"} {
		require.Equal(t, "5.5.1", managed["rocketmq-"+module])
		require.Contains(t, project.Dependencies, dependency(rocketmq(module, "5.5.1")))
	}
	for _, module := range []string{"namesrv", "proxy", "tools"} {
		require.Equal(t, "5.5.0", managed["rocketmq-"+module])
		require.Contains(t, project.Dependencies, dependency(rocketmq(module, "5.5.0")))
	}

	same, err := RocketMQ("5.5.0", "5.5.0")
	require.NoError(t, err)
	plain, err := RocketMQ("5.5.0", "")
	require.NoError(t, err)
	require.Equal(t, plain, same)
	require.Empty(t, same.Pins)
}

func TestPOMEscapesWhatABillHolds(t *testing.T) {
	evil := "</version><scope>system</scope>"
	project := parse(t, Bill{Broker: "x", Version: "1", Artifacts: []Coordinate{{"g", "a", evil}}})
	require.Equal(t, evil, project.Dependencies[0].Version)
	require.Empty(t, project.Dependencies[0].Scope)
}

func TestKeysTellBillsApartAndFitAnImageTag(t *testing.T) {
	seen := map[string]Bill{}
	add := func(bill Bill, err error) {
		require.NoError(t, err)
		key := bill.Key()
		require.Regexp(t, `^`+bill.Broker+`-[a-z0-9_][a-z0-9_.-]*-[0-9a-f]{12}$`, key)
		require.LessOrEqual(t, len(key), 128)
		require.NotContains(t, seen, key)
		seen[key] = bill
	}
	add(Pulsar("3.0.2"))
	add(Pulsar("3.0.2+a"))
	add(Pulsar("3.0.2-a"))
	add(Pulsar("3.0.2-A"))
	add(Kafka("3.0.2"))
	add(RocketMQ("5.5.0", ""))
	add(RocketMQ("5.5.0", "5.5.1"))
	add(RocketMQ("5.5.1", "5.5.0"))
	bill, err := Pulsar("3.0.2")
	require.NoError(t, err)
	require.Regexp(t, `^pulsar-3\.0\.2-`, bill.Key())
	bill.Pins = append(bill.Pins, Coordinate{"g", "a", "1"})
	require.NotContains(t, seen, bill.Key())
}

func parse(t *testing.T, bill Bill) pomProject {
	t.Helper()
	var project pomProject
	require.NoError(t, xml.Unmarshal(bill.POM(), &project))
	return project
}
