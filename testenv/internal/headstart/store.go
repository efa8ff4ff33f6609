package headstart

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// Runner runs a command to its end in the directory dir, with its output in
// the file log, and ends it when ctx is done.
type Runner func(ctx context.Context, args []string, dir, log string) error

// Store is the head starts of one set of jars. Any number of processes may use
// one directory at the same time.
type Store struct {
	// Dir is the directory, made when something is kept.
	Dir string
	// Run runs Java.
	Run Runner
	// Progress is told what takes time; nil means nobody wants to know.
	Progress func(format string, args ...any)
}

// New is the store of a set of jars, named by its key, in a cache directory.
func New(cache, key string, run Runner) Store {
	return Store{Dir: filepath.Join(cache, "starts", key), Run: run}
}

func (s Store) path(name string) string { return filepath.Join(s.Dir, name) }

func (s Store) progress(format string, args ...any) {
	if s.Progress != nil {
		s.Progress(format, args...)
	}
}

// write makes a file whole or not at all.
func (s Store) write(name string, content []byte) error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("keep %s: %w", name, err)
	}
	if err := renameio.WriteFile(s.path(name), content, 0o600, renameio.WithTempDir(s.Dir)); err != nil {
		return fmt.Errorf("keep %s: %w", name, err)
	}
	return nil
}

// digest is a short name of what things depend on.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:16]
}
