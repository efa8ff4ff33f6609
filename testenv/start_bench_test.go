package testenv

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/settings"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// The flags that the brokers' official images start them with: Kafka's
// bin/kafka-run-class.sh, Pulsar's conf/pulsar_env.sh, and RocketMQ's
// image-build/scripts of apache/rocketmq-docker, whose heap is a part of the
// machine's memory and here the least that it comes to, 1 GB.
var officialFlags = map[string][]string{
	"kafka": {
		"-Xms1g", "-Xmx1g", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
		"-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15",
	},
	"pulsar": {
		"-Xms2g", "-Xmx2g", "-XX:MaxDirectMemorySize=4g", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=10",
		"-XX:+ParallelRefProcEnabled", "-XX:+UnlockExperimentalVMOptions", "-XX:G1NewSizePercent=50", "-XX:+DisableExplicitGC",
	},
	"rocketmq": {
		"-server", "-Xms1g", "-Xmx1g", "-Xmn512m", "-XX:+UseG1GC", "-XX:G1HeapRegionSize=16m", "-XX:G1ReservePercent=25",
		"-XX:InitiatingHeapOccupancyPercent=30", "-XX:SoftRefLRUPolicyMSPerMB=0", "-XX:+AlwaysPreTouch", "-XX:MaxDirectMemorySize=1g",
	},
}

// tuning are the flags of ours that the official ones take the place of.
var tuning = regexp.MustCompile(`^-X(ms|mx|mn|ss)|^-XX:`)

// BenchmarkStart starts each broker by turns as its official image does and as
// testenv does, and tells the time until it is ready, the resident memory then, and
// the ratios. Jars, class archives and formatted directories are there already.
// It starts processes; BROKERFAULT_BACKEND=container starts containers, whose
// memory is not told.
//
//	go test -run '^$' -bench Start -benchtime 3x ./testenv
func BenchmarkStart(b *testing.B) {
	brokers := []struct {
		name  string
		start func(e *Env) *Broker
	}{
		{"kafka-4.4.0", func(e *Env) *Broker { return e.StartKafka(KafkaSpec{Version: "4.4.0"}).Broker }},
		{"pulsar-3.0.2", func(e *Env) *Broker { return e.StartPulsar(PulsarSpec{Version: "3.0.2"}).Broker }},
		{"rocketmq-5.5.0", func(e *Env) *Broker { return e.StartRocketMQ(RocketMQSpec{Version: "5.5.0"}).Broker }},
	}
	if os.Getenv("BROKERFAULT_BACKEND") == "" {
		b.Setenv("BROKERFAULT_BACKEND", "process")
	}
	s, err := settings.FromEnvironment()
	require.NoError(b, err)
	for _, kind := range brokers {
		b.Run(kind.name, func(b *testing.B) {
			// The first start writes its classes down, the second makes the archive.
			for range 2 {
				measureStart(b, kind.start, nil)
			}
			var official, ours []started
			for b.Loop() {
				ours = append(ours, measureStart(b, kind.start, nil))
				official = append(official, officially(b, s.Cache, kind.start))
			}
			b.ReportMetric(0, "ns/op")
			report := func(name string, all []started) started {
				m := median(all)
				b.ReportMetric(m.took.Seconds(), name+"-s")
				b.ReportMetric(m.resident/(1<<20), name+"-MiB")
				return m
			}
			o, t := report("official", official), report("testenv", ours)
			b.ReportMetric(t.took.Seconds()/o.took.Seconds(), "ratio-time")
			if o.resident > 0 {
				b.ReportMetric(t.resident/o.resident, "ratio-memory")
			}
		})
	}
}

// started is one start.
type started struct {
	took     time.Duration
	resident float64 // bytes
}

func median(all []started) started {
	byTime, byMemory := slices.Clone(all), slices.Clone(all)
	slices.SortFunc(byTime, func(a, b started) int { return int(a.took - b.took) })
	slices.SortFunc(byMemory, func(a, b started) int { return int(a.resident - b.resident) })
	return started{byTime[len(all)/2].took, byMemory[len(all)/2].resident}
}

// measureStart starts a broker and stops it. flags, if it is not nil, changes its
// JVMs' flags.
func measureStart(b *testing.B, start func(e *Env) *Broker, flags func(broker string, jvm []string) []string) (s started) {
	b.Helper()
	quiet := &double{TB: b, attrs: map[string]string{}}
	up, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(up) // also where it does not start
		e := New(quiet, Case{Name: "testenv/start", Claim: "a broker starts"})
		e.jvm = flags
		start(e)
		s.took = e.spent[starting]
	}()
	<-up
	s.resident = residentMemory(b)
	go func() {
		defer close(done)
		for _, f := range slices.Backward(quiet.cleanups) {
			f()
		}
	}()
	<-done
	if s.took == 0 {
		b.Fatal(quiet.text())
	}
	return s
}

// officially starts a broker with its image's flags, the jars of the cache and a
// formatted directory, but without class archives.
func officially(b *testing.B, cache string, start func(e *Env) *Broker) started {
	b.Helper()
	bare := b.TempDir()
	require.NoError(b, os.Symlink(filepath.Join(cache, "jars"), filepath.Join(bare, "jars")))
	setups, err := filepath.Glob(filepath.Join(cache, "starts", "*", "setup-*"))
	require.NoError(b, err)
	for _, setup := range setups {
		there, err := filepath.Rel(cache, setup)
		require.NoError(b, err)
		require.NoError(b, os.MkdirAll(filepath.Join(bare, filepath.Dir(there)), 0o755))
		require.NoError(b, os.Link(setup, filepath.Join(bare, there)))
	}
	b.Setenv("BROKERFAULT_CACHE", bare)
	defer func() { require.NoError(b, os.Setenv("BROKERFAULT_CACHE", cache)) }()
	return measureStart(b, start, func(broker string, jvm []string) []string {
		return append(slices.DeleteFunc(slices.Clone(jvm), tuning.MatchString), officialFlags[broker]...)
	})
}

// residentMemory is what the JVMs of this process have in memory, in bytes; 0 for
// containers, which are other processes' children.
func residentMemory(b *testing.B) float64 {
	b.Helper()
	session, err := supervisor.Current()
	require.NoError(b, err)
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	require.NoError(b, err)
	var kib float64
	for _, cwd := range all {
		dir, err := os.Readlink(cwd)
		if err != nil || !strings.HasPrefix(dir, session.Dir) {
			continue
		}
		f, err := os.Open(filepath.Join(filepath.Dir(cwd), "status"))
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(f)
		_ = f.Close()
		if m := regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB`).FindSubmatch(text); m != nil {
			n, err := strconv.ParseFloat(string(m[1]), 64)
			require.NoError(b, err)
			kib += n
		}
	}
	return kib * 1024
}
