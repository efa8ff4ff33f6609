package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime/process"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

const (
	mega = 1 << 20
	// enoughDisk has room for the jars and data of all three brokers; with less than
	// noDisk none starts.
	enoughDisk, noDisk = 2048 * mega, 100 * mega
	// enoughMemory is what a cluster of three Kafka brokers, or a Pulsar beside a
	// RocketMQ, take together.
	enoughMemory = 2048 * mega
)

// size is a number of bytes for people.
func size[N int64 | uint64](n N) string {
	if n < 1024*mega {
		return fmt.Sprintf("%d MB", n/mega)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1024*mega))
}

func (m *machine) judgeCache(r *Report) {
	const remedy = "set BROKERFAULT_CACHE to a directory that can be written"
	dir := m.settings.Cache
	if dir == "" {
		return // the settings say why
	}
	if err := writable(dir); err != nil {
		r.add("cache", Missing, err.Error(), remedy)
		return
	}
	held := (&dist.Cache{Dir: dir}).Contents()
	var bytes int64
	var names []string
	for _, h := range held {
		bytes += h.Bytes
		names = append(names, h.Name)
	}
	finding := dir + ": empty"
	if len(held) > 0 {
		finding = fmt.Sprintf("%s: %d distributions, %s: %s", dir, len(held), size(bytes), strings.Join(names, ", "))
	}
	r.add("cache", OK, finding, "")
	judgeDisk(r, "disk of the cache", dir, "make room, or set BROKERFAULT_CACHE to a directory with room")
}

// existing is the directory, or the nearest above it that is there.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// writable makes a file where the directory is, or would be made, and removes it.
func writable(dir string) error {
	f, err := os.CreateTemp(existing(dir), ".brokerfault-doctor-*")
	if err != nil {
		return fmt.Errorf("write to %s: %w", dir, err)
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

func judgeTemp(r *Report) {
	const name, remedy = "temporary directory", "set TMPDIR to a directory that can be written and has room"
	if err := writable(os.TempDir()); err != nil {
		r.add(name, Missing, err.Error(), remedy)
		return
	}
	judgeDisk(r, name, os.TempDir(), remedy)
}

func judgeDisk(r *Report, name, dir, remedy string) {
	u, err := disk.Usage(existing(dir))
	if err != nil {
		r.add(name, Warn, fmt.Sprintf("%s: how much is free is not told: %v", dir, err), "")
		return
	}
	finding := fmt.Sprintf("%s: %s free", dir, size(u.Free))
	switch {
	case u.Free < noDisk:
		r.add(name, Missing, finding, remedy)
	case u.Free < enoughDisk:
		r.add(name, Warn, finding+"; three brokers take up to "+size(int64(enoughDisk)), remedy)
	default:
		r.add(name, OK, finding, "")
	}
}

func judgeMemory(r *Report) {
	v, err := mem.VirtualMemory()
	if err != nil {
		r.add("memory", Warn, fmt.Sprintf("how much is free is not told: %v", err), "")
		return
	}
	finding := fmt.Sprintf("%s of %s available", size(v.Available), size(v.Total))
	if v.Available < enoughMemory {
		r.add("memory", Warn, finding+"; a test of three brokers takes up to "+size(int64(enoughMemory)), "end other programs, or run one package at a time (go test -p 1)")
		return
	}
	r.add("memory", OK, finding, "")
}

func judgePorts(ctx context.Context, r *Report) {
	if err := process.CheckPorts(ctx); err != nil {
		r.add("ports", Missing, err.Error(), "let programs listen on 127.0.0.1 here: a sandbox or a security policy forbids it")
		return
	}
	r.add("ports", OK, "a port of 127.0.0.1 can be held, listened on and connected to", "")
}

func (m *machine) judgeSessions(ctx context.Context, r *Report) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	inUse, abandoned, err := supervisor.Sessions(ctx)
	if err != nil {
		r.add("sessions", Warn, err.Error(), "")
		return
	}
	finding := fmt.Sprintf("%d in use, %d left over, in %s", inUse, abandoned, supervisor.Root())
	if m.noEngine == nil {
		finding += fmt.Sprintf("; %d containers", m.engine.Containers)
	}
	if abandoned > 0 {
		r.add("sessions", Warn, finding+"; the next run removes what is left over", "")
		return
	}
	r.add("sessions", OK, finding, "")
}
