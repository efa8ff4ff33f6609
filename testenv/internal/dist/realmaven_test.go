package dist

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// runPlainly is a Runner for these tests. mvn becomes java by exec, so killing
// the one process is enough.
func runPlainly(ctx context.Context, args []string, dir, log string) error {
	out, err := os.Create(log)
	if err != nil {
		return err
	}
	defer out.Close()
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Dir, command.Stdout, command.Stderr = dir, out, out
	return command.Run()
}

// with adds arguments to every run of Maven.
func with(extra ...string) Runner {
	return func(ctx context.Context, args []string, dir, log string) error {
		return runPlainly(ctx, append(slices.Clone(args), extra...), dir, log)
	}
}

func realCache(t *testing.T, dir string) *Cache {
	t.Helper()
	if testing.Short() {
		t.Skip("runs Maven, which may download a lot")
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		t.Skip("there is no mvn")
	}
	return &Cache{Dir: dir, Run: runPlainly, Progress: t.Logf}
}

func TestRealMavenResolvesEveryListedBroker(t *testing.T) {
	user, err := os.UserCacheDir()
	require.NoError(t, err)
	// The suite's own cache, which this warms up.
	cache := realCache(t, filepath.Join(user, "brokerfault"))
	made := func(bill Bill, err error) Bill {
		require.NoError(t, err)
		return bill
	}
	for _, test := range []struct {
		bill     Bill
		always   bool
		least    int
		contains []string
	}{
		{made(Kafka("0.8.2.1")), true, 12, []string{"kafka_2.10-0.8.2.1.jar", "zookeeper-3.4.6.jar", "slf4j-log4j12-1.6.1.jar"}},
		{made(Kafka("1.0.0")), false, 12, []string{"kafka_2.12-1.0.0.jar", "zookeeper-3.4.10.jar", "slf4j-log4j12-1.7.25.jar"}},
		{made(Kafka("2.8.2")), false, 30, []string{"kafka_2.13-2.8.2.jar", "slf4j-simple-1.7.36.jar"}},
		{made(Kafka("3.5.1")), false, 30, []string{"kafka_2.13-3.5.1.jar", "slf4j-simple-1.7.36.jar"}},
		{made(Kafka("3.9.2")), false, 30, []string{"kafka_2.13-3.9.2.jar", "slf4j-simple-1.7.36.jar"}},
		{made(Kafka("4.4.0")), true, 30, []string{"kafka_2.13-4.4.0.jar", "slf4j-simple-1.7.36.jar"}},
		{made(Pulsar("2.11.0")), false, 250, []string{"pulsar-broker-2.11.0.jar"}},
		{made(Pulsar("3.0.2")), true, 250, []string{"pulsar-broker-3.0.2.jar"}},
		{made(Pulsar("4.2.4")), false, 250, []string{"pulsar-broker-4.2.4.jar"}},
		{made(RocketMQ("5.3.3", "")), false, 100, []string{"rocketmq-broker-5.3.3.jar", "rocketmq-proxy-5.3.3.jar"}},
		{made(RocketMQ("5.4.0", "")), false, 100, []string{"rocketmq-broker-5.4.0.jar", "rocketmq-proxy-5.4.0.jar"}},
		{made(RocketMQ("5.5.0", "")), false, 100, []string{"rocketmq-broker-5.5.0.jar", "rocketmq-proxy-5.5.0.jar"}},
		{made(RocketMQ("5.5.0", "5.5.1")), true, 100, []string{
			"rocketmq-broker-5.5.1.jar", "rocketmq-store-5.5.1.jar", "rocketmq-remoting-5.5.1.jar", "rocketmq-common-5.5.1.jar",
			"rocketmq-controller-5.5.1.jar", "rocketmq-tiered-store-5.5.1.jar", "rocketmq-proxy-5.5.0.jar", "rocketmq-namesrv-5.5.0.jar",
		}},
	} {
		t.Run(test.bill.Key(), func(t *testing.T) {
			// One of each broker always; all of them are minutes of downloads.
			if !test.always && os.Getenv("BROKERFAULT_PROFILE") != "full" {
				t.Skip("only with BROKERFAULT_PROFILE=full")
			}
			cache := *cache
			cache.Progress = t.Logf
			start := time.Now()
			jars, err := cache.Jars(t.Context(), test.bill)
			require.NoError(t, err)
			first := time.Since(start)
			require.Subset(t, jars.Names, test.contains)
			require.GreaterOrEqual(t, len(jars.Names), test.least)
			start = time.Now()
			again, err := cache.Jars(t.Context(), test.bill)
			require.NoError(t, err)
			require.Equal(t, jars, again)
			archive, err := jars.BuildContext("base")
			require.NoError(t, err)
			t.Logf("%d jars, build context of %d MB, first use %s, second %s", len(jars.Names), archive.Size()>>20, first, time.Since(start))
		})
	}
}

func TestRealMavenSaysWhichVersionIsNotThere(t *testing.T) {
	cache := realCache(t, t.TempDir())
	for _, maker := range []func(string) (Bill, error){Kafka, Pulsar} {
		bill, err := maker("9.9.9")
		require.NoError(t, err)
		_, err = cache.Jars(t.Context(), bill)
		require.Error(t, err)
		t.Log(err)
		require.Regexp(t, `org\.apache\.(kafka:kafka_2\.13:jar|pulsar:pulsar:pom):9\.9\.9`, err.Error())
		require.ErrorContains(t, err, "ask for another one")
	}
}

func TestRealMavenSaysThatNobodyAnswers(t *testing.T) {
	cache := realCache(t, t.TempDir())
	settings := filepath.Join(t.TempDir(), "settings.xml")
	// Port 1 of this machine refuses connections.
	require.NoError(t, os.WriteFile(settings, []byte(`<settings><mirrors><mirror><id>nobody</id><mirrorOf>*</mirrorOf>`+
		`<url>http://127.0.0.1:1/</url></mirror></mirrors></settings>`), 0o644))
	cache.Run = with("-s", settings, "-Dmaven.repo.local="+t.TempDir())
	_, err := cache.Jars(t.Context(), pulsar302(t))
	require.Error(t, err)
	t.Log(err)
	require.ErrorContains(t, err, "Connection refused")
	require.ErrorContains(t, err, "check the network")
}

// A power cut in the middle of a download leaves such a jar. Maven believes it.
func TestRealMavenHandsOverADamagedJarAndItIsNamed(t *testing.T) {
	cache, local := realCache(t, t.TempDir()), t.TempDir()
	cache.Run = with("-Dmaven.repo.local=" + local)
	bill, err := Kafka("0.8.2.1")
	require.NoError(t, err)
	jars, err := cache.Jars(t.Context(), bill)
	require.NoError(t, err)

	paths, err := filepath.Glob(filepath.Join(local, "org/apache/kafka/kafka_2.10/0.8.2.1/*.jar"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	require.NoError(t, os.Truncate(paths[0], 1000))
	require.NoError(t, os.RemoveAll(jars.Dir))
	_, err = cache.Jars(t.Context(), bill)
	require.ErrorContains(t, err, `damaged jar, "kafka_2.10-0.8.2.1.jar"`)
	t.Log(err)

	// What the error says to do helps.
	require.NoError(t, os.Remove(paths[0]))
	_, err = cache.Jars(t.Context(), bill)
	require.NoError(t, err)
	require.False(t, strings.HasSuffix(jars.Dir, ".part"))
}
