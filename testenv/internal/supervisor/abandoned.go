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
	if strings.Contains(root, ",") {
		return "", nil, fmt.Errorf("the directory for temporary files, %q, has a comma in its name, at which brokers split their settings: set TMPDIR to another one", filepath.Dir(root))
	}
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
	deaf := map[string]bool{} // engines that do not answer are asked once
	for _, dir := range dirs {
		lock, err := lockFileAt(filepath.Join(dir, lockFile), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, engineFile))
		engine := strings.TrimSpace(string(text))
		if err != nil {
			engine = ""
		}
		if !deaf[engine] {
			deaf[engine] = !removeSession(dir, engine)
		} else {
			keepManifest(dir)
		}
		lock.Close()
	}
}

// removeSession removes all of a session. Where its engine cannot be asked for its
// containers, the manifest that names it stays for a later run, and false is returned.
func removeSession(dir, engine string) bool {
	if engine != "" && removeContainers(engine, filepath.Base(dir)) != nil {
		keepManifest(dir)
		return false
	}
	_ = os.RemoveAll(dir)
	return true
}

// keepManifest removes all of a session but what a later run needs to remove its
// containers.
func keepManifest(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if name := entry.Name(); name != lockFile && name != engineFile {
			_ = os.RemoveAll(filepath.Join(dir, name))
		}
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
