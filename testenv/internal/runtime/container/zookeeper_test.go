package container

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// ZooKeeper is real Java, starts within a second, has a handful of jars and
// answers four letters: it stands for a broker here.
var zookeeperBill = dist.Bill{
	Broker: "zookeeper", Version: "3.4.6",
	Artifacts: []dist.Coordinate{{Group: "org.apache.zookeeper", Artifact: "zookeeper", Version: "3.4.6"}},
}

// zookeeper is node number i of n. An ensemble finds its members by name.
func zookeeper(i, n int) broker.Node {
	name := func(i int) string { return fmt.Sprintf("zk-%d", i) }
	return broker.Node{
		Name: name(i), Bill: zookeeperBill,
		Ports: []broker.Port{{Name: "client", Inside: 2181, Client: true}, {Name: "peer", Inside: 2888}, {Name: "election", Inside: 3888}},
		Launch: func(at broker.Site) broker.Launch {
			config := fmt.Sprintf("tickTime=500\ninitLimit=20\nsyncLimit=10\ndataDir=%s/data\nclientPort=%d\nclientPortAddress=%s\n",
				at.Home, at.Port("client"), at.Bind)
			for p := 1; n > 1 && p <= n; p++ {
				_, election, _ := net.SplitHostPort(at.Peer(name(p), "election"))
				config += fmt.Sprintf("server.%d=%s:%s\n", p, at.Peer(name(p), "peer"), election)
			}
			return broker.Launch{
				JVM: []string{"-Xmx64m", "-XX:TieredStopAtLevel=1", "-Dlog4j.configuration=file:log4j.properties", "-Dit's=a \"$HOME\" `quote`"},
				Env: []string{"with.dot=it's $HERE", "ADVERTISED=" + at.Advertised("client")},
				Setup: []broker.Program{
					{Class: "org.apache.zookeeper.Version", Args: []string{"--full"}},
				},
				Main: broker.Program{Class: "org.apache.zookeeper.server.quorum.QuorumPeerMain", Args: []string{"conf/zoo.cfg"}},
				Files: map[string]string{
					"conf/zoo.cfg":     config,
					"data/myid":        fmt.Sprint(i),
					"log4j.properties": "log4j.rootLogger=INFO, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\nlog4j.appender.out.layout=org.apache.log4j.PatternLayout\nlog4j.appender.out.layout.ConversionPattern=%m%n\n",
				},
			}
		},
	}
}

// ask sends a four-letter word.
func ask(n runtime.Node, word string, limit time.Duration) (string, error) {
	address, err := n.Address("client")
	if err != nil {
		return "", err
	}
	conn, err := net.DialTimeout("tcp", address, limit)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

func answers(n runtime.Node, word, want string) func() bool {
	return func() bool {
		answer, err := ask(n, word, time.Second)
		return err == nil && strings.Contains(answer, want)
	}
}

// deaths records what Died was called with.
type deaths struct {
	mu  sync.Mutex
	all []string
}

func (d *deaths) died(node string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, fmt.Sprintf("%s: %v", node, err))
}

func (d *deaths) list() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.all...)
}

func newRuntime(t *testing.T) *Runtime {
	t.Helper()
	if testing.Short() {
		t.Skip("starts containers")
	}
	if err := Answers(t.Context()); err != nil {
		t.Skip(err)
	}
	dir := os.Getenv("BROKERFAULT_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		require.NoError(t, err)
		dir = filepath.Join(user, "brokerfault")
	}
	session, err := supervisor.Current()
	require.NoError(t, err)
	run := func(ctx context.Context, args []string, dir, log string) error {
		return session.Run(ctx, supervisor.Command{Args: args, Dir: dir, Log: log})
	}
	r, err := New(t.Context(), Options{Cache: &dist.Cache{Dir: dir, Run: run}, Base: os.Getenv("BROKERFAULT_BASE_IMAGE")})
	require.NoError(t, err)
	return r
}

// place places an ensemble, and checks at the end that nothing is left of it.
func place(t *testing.T, r *Runtime, nodes int) ([]*node, *deaths) {
	t.Helper()
	var all []broker.Node
	for i := range nodes {
		all = append(all, zookeeper(i+1, nodes))
	}
	return placeAll(t, r, all)
}

func placeAll(t *testing.T, r *Runtime, all []broker.Node) ([]*node, *deaths) {
	t.Helper()
	d := &deaths{}
	placed, err := r.Place(t.Context(), runtime.Placement{
		Nodes:      all,
		Advertised: func(node, port string) string { return node + ".example:1" },
		LogDir:     t.TempDir(),
		Died:       d.died,
		Progress:   t.Logf,
	})
	require.NoError(t, err)
	made := make([]*node, len(placed))
	for i, n := range placed {
		made[i] = n.(*node)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, n := range made {
			require.NoError(t, n.Close(ctx))
			require.NoError(t, n.Close(ctx), "closing again")
		}
		filters := make(client.Filters).Add("label", supervisor.Label+"="+r.session.ID).Add("name", made[0].prefix)
		containers, err := r.engine.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters})
		require.NoError(t, err)
		require.Empty(t, containers.Items)
		networks, err := r.engine.NetworkList(ctx, client.NetworkListOptions{Filters: filters})
		require.NoError(t, err)
		require.Empty(t, networks.Items)
		volumes, err := r.engine.VolumeList(ctx, client.VolumeListOptions{Filters: make(client.Filters).Add("label", supervisor.Label+"="+r.session.ID)})
		require.NoError(t, err)
		require.Empty(t, volumes.Items)
		require.NoError(t, r.engine.Close(), "let go of the connections of these questions")
	})
	return made, d
}

func start(t *testing.T, n *node) {
	t.Helper()
	begun := time.Now()
	require.NoError(t, n.Start(t.Context()))
	started := time.Since(begun)
	require.Eventually(t, answers(n, "ruok", "imok"), 30*time.Second, 50*time.Millisecond)
	t.Logf("started in %s, ready after %s", started.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond))
}

func readLog(t *testing.T, n *node) string {
	t.Helper()
	text, err := os.ReadFile(n.LogFile())
	require.NoError(t, err)
	return string(text)
}
