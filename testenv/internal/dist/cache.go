package dist

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Runner runs a command to its end in the directory dir, with its output in
// the file log. It ends the command when ctx is done, and must not let it
// outlive this process.
type Runner func(ctx context.Context, args []string, dir, log string) error

// Cache keeps the jars of bills below a directory. Any number of goroutines
// and processes may use one directory at the same time: a bill is made once.
type Cache struct {
	// Dir is the directory, made when it is not there.
	Dir string
	// Maven is the mvn to run. Empty means the one in PATH.
	Maven string
	// Run runs Maven. It is needed.
	Run Runner
	// Limit bounds one run of Maven. Zero means 10 minutes.
	Limit time.Duration
	// Progress is told what takes time, also from another goroutine while Jars
	// runs. Nil means nobody wants to know.
	Progress func(format string, args ...any)

	// every is the pause between two words of progress, zero being 5 s.
	every time.Duration
}

// Telling is the same cache with another one to be told of its progress.
func (c *Cache) Telling(progress func(format string, args ...any)) *Cache {
	told := *c
	told.Progress = progress
	return &told
}

// Jars is a directory of verified jars.
type Jars struct {
	// Dir holds the jars.
	Dir string
	// Names are the jars' file names, sorted.
	Names []string
	// Key is the bill's.
	Key string
}

// Size is that of the jars together, in bytes.
func (j Jars) Size() (int64, error) {
	var size int64
	for _, name := range j.Names {
		info, err := os.Stat(filepath.Join(j.Dir, name))
		if err != nil {
			return 0, fmt.Errorf("look at a jar: %w", err)
		}
		size += info.Size()
	}
	return size, nil
}

// lockPoll is how often a lock that another process holds is tried again.
const lockPoll = 100 * time.Millisecond

// partSuffix ends the name of a directory that is no result yet.
const partSuffix = ".part"

// Jars returns the jars of a bill, from the cache when they are there whole,
// else from Maven.
func (c *Cache) Jars(ctx context.Context, b Bill) (Jars, error) {
	key := b.Key()
	final := filepath.Join(c.jarsDir(), key)
	if m, err := check(final); err == nil {
		return Jars{Dir: final, Names: m.names(), Key: key}, nil
	}
	if err := os.MkdirAll(c.jarsDir(), 0o755); err != nil {
		return Jars{}, c.writing(err)
	}
	unlock, err := c.lock(ctx, key+".lock", fmt.Sprintf("another process to get the jars of %s", b))
	if err != nil {
		return Jars{}, err
	}
	defer unlock()

	// What was looked at before the lock may have been made meanwhile.
	m, err := check(final)
	if err == nil {
		return Jars{Dir: final, Names: m.names(), Key: key}, nil
	}
	if !errors.Is(err, errAbsent) {
		c.progress("the cached jars of %s are damaged and are made anew: %v; directory: %s", b, err, final)
	}
	if m, err = c.remake(ctx, b, final); err != nil {
		return Jars{}, err
	}
	return Jars{Dir: final, Names: m.names(), Key: key}, nil
}

// remake makes the directory beside its place and moves it there only when
// every jar in it has been read. It runs with the key's lock held.
func (c *Cache) remake(ctx context.Context, b Bill, final string) (manifest, error) {
	if err := c.removeAbandoned(b.Key()); err != nil {
		return manifest{}, c.writing(err)
	}
	part, err := os.MkdirTemp(c.jarsDir(), "."+b.Key()+"-*"+partSuffix)
	if err != nil {
		return manifest{}, c.writing(err)
	}
	defer os.RemoveAll(part)
	// Containers' users and other accounts read the jars too.
	if err := os.Chmod(part, 0o755); err != nil {
		return manifest{}, c.writing(err)
	}
	if err := c.maven(ctx, b, part); err != nil {
		return manifest{}, err
	}
	m, err := verify(ctx, part)
	var damaged *damagedJar
	switch {
	case errors.As(err, &damaged):
		return manifest{}, fmt.Errorf("check the jars of %s: Maven's local repository holds a damaged jar, %q: %w; delete it there (find ~/.m2 -name '%s') and run again",
			b, damaged.name, damaged.err, damaged.name)
	case err != nil:
		return manifest{}, fmt.Errorf("check the jars of %s: %w", b, err)
	case len(m.Jars) == 0:
		return manifest{}, fmt.Errorf("get the jars of %s: Maven ended well but copied no jar; log: %s", b, c.logFile(b))
	}
	if err := m.write(part); err != nil {
		return manifest{}, c.writing(err)
	}
	return m, c.replace(part, final)
}

// removeAbandoned removes what killed processes left. The key's lock is held,
// so nobody works there.
func (c *Cache) removeAbandoned(key string) error {
	entries, err := os.ReadDir(c.jarsDir())
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "."+key+"-") && strings.HasSuffix(entry.Name(), partSuffix) {
			if err := os.RemoveAll(filepath.Join(c.jarsDir(), entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace moves part to final. A damaged directory that is there already is
// moved aside first, since a rename does not replace a directory with files.
func (c *Cache) replace(part, final string) error {
	if _, err := os.Lstat(final); err == nil {
		aside := part + ".old" + partSuffix
		if err := os.Rename(final, aside); err != nil {
			return c.writing(err)
		}
		defer os.RemoveAll(aside)
	}
	if err := os.Rename(part, final); err != nil {
		return c.writing(err)
	}
	return nil
}

// lock takes a lock file below jars. It obeys ctx, and says whom it waits for.
func (c *Cache) lock(ctx context.Context, name, waitsFor string) (unlock func(), err error) {
	l := flock.New(filepath.Join(c.jarsDir(), name), flock.SetPermissions(0o644))
	locked, err := l.TryLock()
	if err == nil && !locked {
		c.progress("waiting for %s", waitsFor)
		start := time.Now()
		if _, err = l.TryLockContext(ctx, lockPoll); ctx.Err() != nil && err != nil {
			return nil, fmt.Errorf("wait for %s: not done after %s: %w; lock: %s", waitsFor, since(start), context.Cause(ctx), l.Path())
		}
	}
	if err != nil {
		return nil, c.writing(err)
	}
	return func() { _ = l.Close() }, nil
}

// writing tells the user which directory could not be written and what to do.
func (c *Cache) writing(err error) error {
	advice := "name another directory with BROKERFAULT_CACHE"
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		advice = "make room there, or " + advice
	}
	return fmt.Errorf("write the cache directory %q: %w; %s", c.Dir, err, advice)
}

func (c *Cache) jarsDir() string { return filepath.Join(c.Dir, "jars") }

func (c *Cache) logFile(b Bill) string {
	return filepath.Join(c.jarsDir(), b.Key()+".maven.log")
}

func (c *Cache) progress(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(format, args...)
	}
}

// since is a duration for people.
func since(start time.Time) time.Duration {
	if d := time.Since(start); d > time.Second {
		return d.Round(time.Second)
	}
	return time.Since(start).Round(time.Millisecond)
}
