package broker

import (
	"net"
	"path"
	"strconv"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
)

// Names of RocketMQ's nodes and ports, and of what it registers itself as.
const (
	RocketMQNameServer = "nameserver"
	RocketMQBroker     = "broker"
	RocketMQProxy      = "proxy"

	RocketMQNames    = "names"
	RocketMQRemoting = "remoting"
	RocketMQGRPC     = "grpc"

	rocketMQHA            = "ha"
	rocketMQProxyRemoting = "proxy-remoting"

	// rocketMQStore is the directory of all that the broker stores, below the node's own.
	rocketMQStore = "store"

	// RocketMQBrokerName is what the broker calls itself.
	RocketMQBrokerName = "broker-a"
	// RocketMQCluster is a cluster's name and that of a topic which every broker of it has.
	RocketMQCluster = "DefaultCluster"
)

// RocketMQ is a name server, a broker and a gRPC proxy, each a node of its own:
// the proxy in its cluster mode. Broker and proxy can be killed apart, and only
// in this mode does a route name the endpoint that the client asked at, so that
// clients stay on the link; a proxy in local mode names its own port.
//
// The proxy's ports and the broker's port for replicas are open on every
// interface: RocketMQ has no setting for them.
func RocketMQ(bill dist.Bill, config, proxyConfig map[string]string) []Node {
	return []Node{
		{
			Name:   RocketMQNameServer,
			Bill:   bill,
			Ports:  []Port{{Name: RocketMQNames, Inside: 9876}},
			Launch: forRelease(bill, launchNameServer),
		},
		{
			Name: RocketMQBroker,
			Bill: bill,
			Ports: []Port{
				// Two below it is a second one, for clients in a hurry.
				{Name: RocketMQRemoting, Inside: 10911, Also: []int{-2}},
				{Name: rocketMQHA, Inside: 10912, Everywhere: true},
			},
			Launch: forRelease(bill, func(at Site) Launch { return launchRocketMQBroker(at, config) }),
			Data:   rocketMQStore,
		},
		{
			Name: RocketMQProxy,
			Bill: bill,
			Ports: []Port{
				{Name: RocketMQGRPC, Inside: 8081, Client: true, Everywhere: true},
				{Name: rocketMQProxyRemoting, Inside: 8080, Everywhere: true},
			},
			Launch: forRelease(bill, func(at Site) Launch { return launchRocketMQProxy(at, proxyConfig) }),
		},
	}
}

func launchNameServer(at Site) Launch {
	settings := properties(map[string]string{
		"bindAddress":     at.Bind,
		"listenPort":      strconv.Itoa(at.Port(RocketMQNames)),
		"kvConfigPath":    path.Join(at.Home, "names.json"),
		"configStorePath": path.Join(at.Home, "names.properties"),
	}, nil)
	return rocketMQLaunch(at, Program{
		Class: "org.apache.rocketmq.namesrv.NamesrvStartup",
		Args:  []string{"-c", path.Join(at.Home, "nameserver.conf")},
	}, []string{"-Xms32m", "-Xmx128m", "-Dtls.server.mode=disabled"}, map[string]string{"nameserver.conf": settings})
}

func launchRocketMQBroker(at Site, config map[string]string) Launch {
	return rocketMQLaunch(at, Program{
		Class: "org.apache.rocketmq.broker.BrokerStartup",
		Args:  []string{"-c", path.Join(at.Home, "broker.conf")},
	}, []string{
		"-Xms64m", "-Xmx384m", "-XX:MaxDirectMemorySize=256m", "-Dtls.server.mode=disabled",
		// A full disk is the machine's business, not the test's.
		"-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99",
		"-Drocketmq.broker.diskSpaceCleanForciblyRatio=0.98",
	}, map[string]string{"broker.conf": properties(rocketMQBrokerDefaults(at), config)})
}

// rocketMQBrokerDefaults are chosen for a test: small files, patience with a
// slow machine, and no topic that nobody made.
func rocketMQBrokerDefaults(at Site) map[string]string {
	host := hostOf(at.Peer(RocketMQBroker, RocketMQRemoting))
	return map[string]string{
		"brokerClusterName":           RocketMQCluster,
		"brokerName":                  RocketMQBrokerName,
		"brokerId":                    "0",
		"brokerIP1":                   host,
		"brokerIP2":                   host,
		"bindAddress":                 at.Bind,
		"listenPort":                  strconv.Itoa(at.Port(RocketMQRemoting)),
		"haListenPort":                strconv.Itoa(at.Port(rocketMQHA)),
		"namesrvAddr":                 at.Peer(RocketMQNameServer, RocketMQNames),
		"storePathRootDir":            path.Join(at.Home, rocketMQStore),
		"storePathCommitLog":          path.Join(at.Home, rocketMQStore, "commitlog"),
		"mappedFileSizeCommitLog":     "33554432",
		"autoCreateTopicEnable":       "false",
		"autoCreateSubscriptionGroup": "false",
		"registerNameServerPeriod":    "10000",
		// At its end the broker waits for each of these, for up to a second.
		"reviveQueueNum":              "1",
		"waitTimeMillsInSendQueue":    "10000",
		"osPageCacheBusyTimeOutMills": "10000",
		"diskMaxUsedSpaceRatio":       "95",
		// It compares 19 MB byte by byte each time: a third of a processor at the
		// default, once a second.
		"timerFlushIntervalMs": "30000",
	}
}

func launchRocketMQProxy(at Site, config map[string]string) Launch {
	pair := selfSigned()
	key, certificate := path.Join(at.Home, "tls.key"), path.Join(at.Home, "tls.crt")
	defaults := rocketMQProxyDefaults(at)
	defaults["tlsKeyPath"], defaults["tlsCertPath"] = key, certificate
	return rocketMQLaunch(at, Program{
		Class: "org.apache.rocketmq.proxy.ProxyStartup",
		Args:  []string{"-pm", "cluster", "-pc", path.Join(at.Home, "rmq-proxy.json")},
	}, []string{
		"-Xms64m", "-Xmx256m", "-XX:MaxDirectMemorySize=128m",
		// Its second server, for the remoting protocol, reads these.
		"-Dtls.test.mode.enable=false", "-Dtls.server.need.client.auth=none",
		"-Dtls.server.keyPath=" + key, "-Dtls.server.certPath=" + certificate,
	}, map[string]string{"rmq-proxy.json": jsonObject(defaults, config), "tls.key": pair.key, "tls.crt": pair.certificate})
}

func rocketMQProxyDefaults(at Site) map[string]string {
	return map[string]string{
		"rocketMQClusterName":        RocketMQCluster,
		"namesrvAddr":                at.Peer(RocketMQNameServer, RocketMQNames),
		"localServeAddr":             hostOf(at.Peer(RocketMQProxy, RocketMQGRPC)),
		"grpcServerPort":             strconv.Itoa(at.Port(RocketMQGRPC)),
		"remotingListenPort":         strconv.Itoa(at.Port(rocketMQProxyRemoting)),
		"useEndpointPortFromRequest": "true",
		"tlsTestModeEnable":          "false",
		"grpcShutdownTimeSeconds":    "1",
		// What the proxy asks while the broker is away it holds for unknown until it
		// asks again: after a second here, not twenty.
		"subscriptionGroupConfigCacheRefreshSeconds": "1",
		"topicConfigCacheRefreshSeconds":             "1",
		"topicRouteServiceCacheRefreshSeconds":       "1",
		// At its end the proxy takes seconds for each of these.
		"rocketmqMQClientNum": "2",
	}
}

// rocketMQLaunch is what the three have in common.
func rocketMQLaunch(at Site, main Program, jvm []string, files map[string]string) Launch {
	logback := path.Join(at.Home, "logback.xml")
	files["logback.xml"] = rocketMQLogback
	return Launch{
		Main: main,
		JVM: append(append([]string{
			"-Duser.home=" + at.Home,
			"-Drmq.logback.configurationFile=" + logback,
		}, rocketMQJVM...), jvm...),
		Env:   []string{"ROCKETMQ_HOME=" + at.Home},
		Files: files,
	}
}

// hostOf is the host of a host:port that was made here.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// rocketMQJVM: the serial collector and the first compiler start in the
// shortest time; the --add- flags are those of RocketMQ's own start script.
// -showversion puts a line into the log that tells one start from the next.
var rocketMQJVM = []string{
	"-showversion", "-Xss512k",
	"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError",
	"-Djava.net.preferIPv4Stack=true",
	"--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
	"--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-opens=java.base/java.nio=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-opens=java.base/java.util=ALL-UNNAMED",
}

// rocketMQLogback writes to standard output, which the runtime keeps, and not
// the figures that come every few seconds.
const rocketMQLogback = `<?xml version="1.0" encoding="UTF-8"?>
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder>
      <pattern>%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5p [%t] %c{1} - %m%n</pattern>
      <charset class="java.nio.charset.Charset">UTF-8</charset>
    </encoder>
  </appender>
  <logger name="RocketmqProxyWatermark" level="WARN"/>
  <logger name="RocketmqNamesrvWaterMark" level="WARN"/>
  <logger name="RocketmqWaterMark" level="WARN"/>
  <!-- Four lines for each connection, and a probe opens one every 20 ms. -->
  <logger name="RocketmqRemoting" level="WARN"/>
  <logger name="RocketmqTraffic" level="WARN"/>
  <logger name="RocketmqStats" level="WARN"/>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
`
