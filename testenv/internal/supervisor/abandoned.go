package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	lockFile   = "session.lock"
	gateFile   = "sessions.lock"
	engineFile = "engine"
	prefix     = "session-"
)

// Root is where the sessions of this user on this machine have their directories.
func Root() string {
	return filepath.Join(os.TempDir(), "brokerfault-"+strconv.Itoa(os.Getuid()))
}

// newDir makes a locked session directory and removes abandoned ones. Both
// happen under one lock, so nobody takes a directory for abandoned between its
// making and its locking.
func newDir(root string) (string, *os.File, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", nil, fmt.Errorf("make the directory of sessions: %w", err)
	}
	gate, err := lockFileAt(filepath.Join(root, gateFile), syscall.LOCK_EX)
	if err != nil {
		return "", nil, err
	}
	defer gate.Close()
	removeAbandoned(root)
	dir, err := os.MkdirTemp(root, prefix)
	if err != nil {
		return "", nil, fmt.Errorf("make a session directory: %w", err)
	}
	lock, err := lockFileAt(filepath.Join(dir, lockFile), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return "", nil, err
	}
	return dir, lock, nil
}

// removeAbandoned removes the sessions whose lock nobody holds: both the
// process and its supervisor are gone.
func removeAbandoned(root string) {
	dirs, _ := filepath.Glob(filepath.Join(root, prefix+"*"))
	for _, dir := range dirs {
		lock, err := lockFileAt(filepath.Join(dir, lockFile), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			continue
		}
		if engine, err := os.ReadFile(filepath.Join(dir, engineFile)); err == nil {
			removeContainers(strings.TrimSpace(string(engine)), filepath.Base(dir))
		}
		_ = os.RemoveAll(dir)
		lock.Close()
	}
}

func lockFileAt(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock %q: %w", path, err)
	}
	if err := syscall.Flock(int(f.Fd()), how); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	return f, nil
}
