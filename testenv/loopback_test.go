package testenv

import (
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

	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// requireLoopbackOnly looks at what the session's brokers listen on. wide are the
// addresses of ports that a broker cannot be told to bind.
func requireLoopbackOnly(t *testing.T, place string, wide []string) {
	t.Helper()
	if place == "container" {
		containers, _, _ := sessionContainers(t)
		require.NotEmpty(t, containers)
		for _, c := range containers {
			require.NotEmpty(t, c.Ports)
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
	pids := sessionProcesses(t)
	require.NotEmpty(t, pids)
	for _, pid := range pids {
		listening := listeners(t, pid)
		require.NotEmpty(t, listening)
		for _, address := range listening {
			if slices.Contains(wide, "127.0.0.1:"+portOf(t, address)) {
				continue
			}
			require.True(t, isLoopback(address), "process %d listens on %s", pid, address)
		}
	}
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
