package broker

import (
	"path"
	"strconv"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
)

// Names of Pulsar's ports.
const (
	PulsarNode   = "pulsar"
	PulsarBinary = "binary"
	PulsarHTTP   = "http"
	pulsarBookie = "bookie"

	// pulsarData is the directory of the bookie and of the metadata, below the node's own.
	pulsarData = "data"
)

// Pulsar is a standalone Pulsar: broker, bookie and metadata store in one JVM.
// It answers binary lookups with "go on through the service URL", so a client
// whose service URL is the link stays on the link whatever the broker
// advertises; the link is advertised all the same, for HTTP lookups.
func Pulsar(bill dist.Bill, config map[string]string) []Node {
	return []Node{{
		Name: PulsarNode,
		Bill: bill,
		Ports: []Port{
			{Name: PulsarBinary, Inside: 6650, Client: true},
			{Name: PulsarHTTP, Inside: 8080},
			{Name: pulsarBookie, Inside: 3181},
		},
		Launch: func(at Site) Launch { return launchPulsar(at, config) },
		Data:   pulsarData,
	}}
}

func launchPulsar(at Site, config map[string]string) Launch {
	data := path.Join(at.Home, pulsarData)
	return Launch{
		Main: Program{
			Class: "org.apache.pulsar.PulsarStandaloneStarter",
			Args: []string{
				"--config", path.Join(at.Home, "standalone.conf"),
				"--no-functions-worker", "--no-stream-storage",
				"--bookkeeper-dir", path.Join(data, "bookkeeper"),
				"--bookkeeper-port", strconv.Itoa(at.Port(pulsarBookie)),
				"--metadata-dir", path.Join(data, "metadata"),
			},
		},
		JVM:   pulsarJVM,
		Files: map[string]string{"standalone.conf": properties(pulsarDefaults(at), config), "log4j2.xml": log4j2},
	}
}

// pulsarDefaults are chosen for a test: one copy of everything, small caches,
// a short way from a change to its effect.
func pulsarDefaults(at Site) map[string]string {
	return map[string]string{
		"clusterName":       "standalone",
		"bindAddress":       at.Bind,
		"advertisedAddress": "127.0.0.1",
		"brokerServicePort": strconv.Itoa(at.Port(PulsarBinary)),
		"webServicePort":    strconv.Itoa(at.Port(PulsarHTTP)),
		// The bookie listens on the loopback interface only.
		"allowLoopback":                     "true",
		"listeningInterface":                "lo",
		"httpServerEnabled":                 "false",
		"zookeeperServers":                  "",
		"configurationMetadataStoreUrl":     "",
		"managedLedgerDefaultEnsembleSize":  "1",
		"managedLedgerDefaultWriteQuorum":   "1",
		"managedLedgerDefaultAckQuorum":     "1",
		"managedLedgerCacheSizeMB":          "32",
		"dbStorage_writeCacheMaxSizeMb":     "16",
		"dbStorage_readAheadCacheMaxSizeMb": "8",
		"dbStorage_rocksDB_blockCacheSize":  "8388608",
		"journalMaxSizeMB":                  "64",
		"journalPreAllocSizeMB":             "4",
		"journalSyncData":                   "false",
		"numIOThreads":                      "2",
		"numHttpServerThreads":              "8",
		"numOrderedExecutorThreads":         "2",
		"loadBalancerEnabled":               "false",
		"functionsWorkerEnabled":            "false",
		"systemTopicEnabled":                "false",
		"topicLevelPoliciesEnabled":         "false",
		"transactionCoordinatorEnabled":     "false",
		"webSocketServiceEnabled":           "false",
		"brokerDeleteInactiveTopicsEnabled": "false",
		"allowAutoTopicCreation":            "true",
		"brokerShutdownTimeoutMs":           "2000",
		"diskUsageThreshold":                "0.99",
		"diskUsageWarnThreshold":            "0.98",
		"diskUsageLwmThreshold":             "0.97",
	}
}

// pulsarJVM: the serial collector and the first compiler start in the shortest
// time; the --add-opens are those of Pulsar's own start script. Its web service, two
// fifths of a start, is spared what nobody asks it for: descriptions of itself (WADL) and
// a search of the jars for extensions. The heap begins as small as a start allows without
// taking longer, with a young generation below the third that it would have by default.
var pulsarJVM = []string{
	"-Xms56m", "-Xmn16m", "-Xmx384m", "-XX:MaxDirectMemorySize=256m", "-Xss512k",
	"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError",
	"-Djava.net.preferIPv4Stack=true",
	"-Dio.netty.tryReflectionSetAccessible=true", "-Dpulsar.allocator.exit_on_oom=true",
	"-Dlog4j2.configurationFile=log4j2.xml", "-Dlog4j2.disableJmx=true",
	"-Djersey.config.allowSystemPropertiesProvider=true", "-Djersey.config.server.wadl.disableWadl=true", "-Djersey.config.server.disableMetainfServicesLookup=true",
	"--add-opens=java.base/sun.net=ALL-UNNAMED",
	"--add-opens=java.base/java.io=ALL-UNNAMED",
	"--add-opens=java.base/java.util.zip=ALL-UNNAMED",
	"--add-opens=java.base/jdk.internal.platform=ALL-UNNAMED",
	"--add-opens=java.base/java.nio=ALL-UNNAMED",
	"--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
	"--add-opens=java.base/java.lang=ALL-UNNAMED",
	"--add-opens=java.management/sun.management=ALL-UNNAMED",
	"--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
}

// log4j2 writes to standard output, which the runtime keeps.
const log4j2 = `<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR">
  <Appenders>
    <Console name="out" target="SYSTEM_OUT">
      <PatternLayout pattern="%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5p [%t] %c{1} - %m%n"/>
    </Console>
  </Appenders>
  <Loggers>
    <Root level="info"><AppenderRef ref="out"/></Root>
  </Loggers>
</Configuration>
`
