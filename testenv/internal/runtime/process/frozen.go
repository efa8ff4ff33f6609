package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// freezeLimit is ample: a thread stops when it is next scheduled.
const freezeLimit = 5 * time.Second

// awaitFrozen waits until every thread of a process stands still. The signal goes
// through the supervisor, which a busy machine may keep waiting, and a request that
// came in between would still be answered. Where there is no /proc it returns at once.
func awaitFrozen(ctx context.Context, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, freezeLimit)
	defer cancel()
	for !frozen(pid) {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("wait until process %d stands still: %w", pid, context.Cause(ctx))
		}
	}
	return nil
}

func frozen(pid int) bool {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil || len(threads) == 0 {
		return true // there is no /proc, or no process any more
	}
	for _, stat := range threads {
		text, err := os.ReadFile(stat)
		// The state stands behind the name, which is in parentheses and may have some itself.
		_, state, found := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
		if err == nil && found && state[0] != 'T' {
			return false
		}
	}
	return true
}
