package dist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// ErrNoMaven says that there is no mvn to run.
var ErrNoMaven = errors.New("maven is not on this machine")

const (
	defaultLimit = 10 * time.Minute
	defaultEvery = 5 * time.Second
	pomFile      = "pom.xml"
)

// goal is what Maven is asked to do, here and in an image build. -C makes a
// download with a wrong checksum an error where Maven would only warn.
var goal = []string{"-B", "-C", "-Dstyle.color=never", "-f", pomFile, "dependency:copy-dependencies", "-DincludeScope=runtime"}

// maven puts the jars of a bill into dir, which must be empty.
func (c *Cache) maven(ctx context.Context, b Bill, dir string) error {
	if c.Run == nil {
		return errors.New("run maven: the cache has no Runner")
	}
	mvn, err := c.findMaven()
	if err != nil {
		return fmt.Errorf("get the jars of %s: %w", b, err)
	}
	if err := os.WriteFile(filepath.Join(dir, pomFile), b.POM(), 0o644); err != nil {
		return c.writing(err)
	}
	// Maven 3 does not guard its local repository against a second Maven, and
	// the packages of one test run start together.
	unlock, err := c.lock(ctx, "maven.lock", "Maven, which runs for other jars")
	if err != nil {
		return err
	}
	defer unlock()

	args := append(append([]string{mvn}, goal...), "-DoutputDirectory="+dir)
	out, err := c.runMaven(ctx, b, args, dir)
	if err != nil && ctx.Err() == nil && cachedFailure(out) {
		// Maven remembers for a day what a repository did not have. It may have
		// it now.
		c.progress("Maven remembers an earlier failure; asking the repository again")
		_, err = c.runMaven(ctx, b, append(args, "-U"), dir)
	}
	return err
}

// FindMaven finds the mvn that a cache runs unless told otherwise. The error of a machine
// that has none is ErrNoMaven.
func FindMaven() (string, error) { return findMaven("mvn") }

func (c *Cache) findMaven() (string, error) {
	if c.Maven == "" {
		return FindMaven()
	}
	return findMaven(c.Maven)
}

func findMaven(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w (%w): install Maven 3.6 or newer, or let Docker do it with BROKERFAULT_BACKEND=container", ErrNoMaven, err)
	}
	return filepath.Abs(path)
}

// runMaven runs Maven once within the limit. It returns Maven's output too.
func (c *Cache) runMaven(ctx context.Context, b Bill, args []string, dir string) ([]byte, error) {
	log, limit := c.logFile(b), c.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	// A runner may append.
	if err := os.WriteFile(log, nil, 0o644); err != nil {
		return nil, c.writing(err)
	}
	c.progress("Maven gets the jars of %s", b)
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := c.watch(b, dir, log, start)
	err := c.Run(limited, args, dir, log)
	stop()
	out, _ := os.ReadFile(log)
	switch {
	case err == nil:
		c.progress("Maven has copied the jars of %s after %s", b, since(start))
		return out, nil
	case ctx.Err() != nil:
		return out, fmt.Errorf("get the jars of %s: stopped after %s: %w; log: %s", b, since(start), context.Cause(ctx), log)
	case limited.Err() != nil:
		return out, fmt.Errorf("get the jars of %s: Maven did not finish within %s; its last lines: %s; log: %s", b, limit, lastLines(out), log)
	}
	return out, c.mavenError(b, out, err, log)
}

// mavenError turns a failed run into Maven's own words and what to do.
func (c *Cache) mavenError(b Bill, out []byte, err error, log string) error {
	words := errorLines(out)
	if words == "" {
		words = lastLines(out)
	}
	if words == "" {
		words = "it said nothing"
	}
	return fmt.Errorf("get the jars of %s: maven: %w: %s; %s; log: %s", b, err, words, c.advice(words), log)
}

// watch reports how far Maven is until stop is called. stop waits for the last
// report to end, so Progress is never called after Jars has returned.
func (c *Cache) watch(b Bill, dir, log string, start time.Time) (stop func()) {
	every := c.every
	if every <= 0 {
		every = defaultEvery
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				out, _ := os.ReadFile(log)
				copied, _ := jarsIn(dir)
				c.progress("Maven gets the jars of %s: %d files downloaded, %d jars copied, %s so far",
					b, bytes.Count(out, []byte("Downloaded from ")), len(copied), since(start))
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}
