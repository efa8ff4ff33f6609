package testenv

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/api/types/volume"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	brokerruntime "github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// requireLoopbackOnly looks at what the broker listens on. Its wide addresses are left out.
func requireLoopbackOnly(t *testing.T, place string, s subject) {
	t.Helper()
	if place == "container" {
		containers := containersOf(t, s.broker)
		require.Len(t, containers, len(s.broker.nodes))
		for _, c := range containers {
			for _, p := range c.Ports {
				if p.PublicPort != 0 {
					require.True(t, p.IP.IsLoopback(), "port %d is published at %s", p.PrivatePort, p.IP)
				}
			}
		}
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc/net here")
	}
	pids := processesOf(t, s.broker)
	require.Len(t, pids, len(s.broker.nodes))
	for _, pid := range pids {
		listening := listeners(t, pid)
		require.NotEmpty(t, listening)
		for _, address := range listening {
			if slices.Contains(s.wide, "127.0.0.1:"+portOf(t, address)) {
				continue
			}
			require.True(t, isLoopback(address), "process %d listens on %s", pid, address)
		}
	}
}

// processesOf are the processes that write the logs of the broker's nodes.
func processesOf(t *testing.T, b *Broker) []int {
	t.Helper()
	var found []int
	for _, pid := range sessionProcesses(t) {
		output, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "fd", "1")) // it may have ended
		if slices.ContainsFunc(b.nodes, func(n brokerruntime.Node) bool { return n.LogFile() == output }) {
			found = append(found, pid)
		}
	}
	return found
}

// containersOf are the containers that publish an address of the broker's nodes.
func containersOf(t *testing.T, b *Broker) []container.Summary {
	t.Helper()
	published := map[string]bool{}
	for _, n := range b.nodes {
		for _, port := range b.ports(n.Name()) {
			if address, err := n.Address(port.Name); err == nil {
				_, number, err := net.SplitHostPort(address)
				require.NoError(t, err)
				published[number] = true
			}
		}
	}
	containers, _, _ := sessionContainers(t)
	return slices.DeleteFunc(containers, func(c container.Summary) bool {
		return !slices.ContainsFunc(c.Ports, func(p container.PortSummary) bool {
			return published[strconv.Itoa(int(p.PublicPort))]
		})
	})
}

// sessionProcesses are the processes that work in the session's directory.
func sessionProcesses(t *testing.T) []int {
	t.Helper()
	session, err := supervisor.Current()
	require.NoError(t, err)
	var found []int
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	require.NoError(t, err)
	for _, link := range links {
		dir, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(dir, session.Dir+"/") {
			continue // it has ended, or is somebody else's
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		require.NoError(t, err)
		found = append(found, pid)
	}
	return found
}

// listeners are the addresses, as /proc/net/tcp and tcp6 write them, that a
// process listens on.
func listeners(t *testing.T, pid int) []string {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	own := map[string]bool{}
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	require.NoError(t, err)
	for _, fd := range fds {
		target, _ := os.Readlink(filepath.Join(dir, "fd", fd.Name())) // it may be closed by now
		if inode, is := strings.CutPrefix(target, "socket:["); is {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	var found []string
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(filepath.Join(dir, "net", table))
		if os.IsNotExist(err) {
			continue // a machine without IPv6
		}
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			const local, state, inode, listen = 1, 3, 9, "0A"
			if f := strings.Fields(line); len(f) > inode && f[state] == listen && own[f[inode]] {
				found = append(found, f[local])
			}
		}
	}
	return found
}

// portOf reads the port of an address in the kernel's words.
func portOf(t *testing.T, address string) string {
	t.Helper()
	_, hex, _ := strings.Cut(address, ":")
	port, err := strconv.ParseUint(hex, 16, 16)
	require.NoError(t, err)
	return strconv.FormatUint(port, 10)
}

// isLoopback reads an address in the kernel's words: host byte order within
// each 32 bits, so 127.0.0.1 is 0100007F on the machines at hand.
func isLoopback(address string) bool {
	host, _, _ := strings.Cut(address, ":")
	return host == "0100007F" || // 127.0.0.1
		host == "00000000000000000000000001000000" || // ::1
		host == "0000000000000000FFFF00000100007F" // ::ffff:127.0.0.1
}

// sessionContainers are the containers, networks and volumes that carry the session's label.
func sessionContainers(t *testing.T) ([]container.Summary, []network.Summary, []volume.Volume) {
	t.Helper()
	session, err := supervisor.Current()
	require.NoError(t, err)
	engine, err := os.ReadFile(filepath.Join(session.Dir, "engine"))
	require.NoError(t, err)
	cli, err := client.New(client.WithHost(strings.TrimSpace(string(engine))))
	require.NoError(t, err)
	defer cli.Close()
	filters := make(client.Filters).Add("label", supervisor.Label+"="+session.ID)
	containers, err := cli.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: filters})
	require.NoError(t, err)
	networks, err := cli.NetworkList(t.Context(), client.NetworkListOptions{Filters: filters})
	require.NoError(t, err)
	volumes, err := cli.VolumeList(t.Context(), client.VolumeListOptions{Filters: filters})
	require.NoError(t, err)
	return containers.Items, networks.Items, volumes.Items
}
