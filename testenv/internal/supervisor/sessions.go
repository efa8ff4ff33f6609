package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Sessions counts the sessions of this user on this machine: those in use, and those that
// are abandoned, which the next one removes. Nothing is changed.
func Sessions(ctx context.Context) (inUse, abandoned int, err error) { return sessions(ctx, Root()) }

func sessions(ctx context.Context, root string) (inUse, abandoned int, err error) {
	gate := filepath.Join(root, gateFile)
	if _, err := os.Stat(gate); errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	// A session that is being made must not find its lock taken by who only looks.
	lock := flock.New(gate)
	if _, err := lock.TryRLockContext(ctx, 50*time.Millisecond); err != nil {
		return 0, 0, fmt.Errorf("wait for another process to make its session (%s): %w", gate, err)
	}
	defer lock.Close()
	dirs, err := filepath.Glob(filepath.Join(root, prefix+"*"))
	if err != nil {
		return 0, 0, fmt.Errorf("list the sessions: %w", err)
	}
	for _, dir := range dirs {
		switch held, err := isHeld(filepath.Join(dir, lockFile)); {
		case errors.Is(err, fs.ErrNotExist):
			// It is being removed.
		case err != nil:
			return 0, 0, fmt.Errorf("look at a session: %w", err)
		case held:
			inUse++
		default:
			abandoned++
		}
	}
	return inUse, abandoned, nil
}

func isHeld(lock string) (bool, error) {
	f, err := os.Open(lock)
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
