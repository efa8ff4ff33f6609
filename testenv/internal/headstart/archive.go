package headstart

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	archiveSuffix = ".jsa"
	// failedSuffix ends the name of the file that says why there is no archive.
	failedSuffix = ".failed"
	lockPoll     = 100 * time.Millisecond
)

// Program is a Java program as it is started on this machine.
type Program struct {
	// Main is its main class.
	Main string
	// Java is the path of java, and Build what that calls itself: an archive is
	// of use to the very build that made it.
	Java, Build string
	// Jars are the paths of its class path, in its order.
	Jars []string
}

// Archive is the program's class-data archive. It is made of the kept list when
// it is not there, or not as it was made; "" means that there is none: there is
// no list yet, or Java could not make it, which is tried once.
func (s Store) Archive(ctx context.Context, p Program) (path string, err error) {
	list, there := s.Classes(p.Main)
	if !there {
		return "", nil
	}
	name, err := p.archive()
	if err != nil {
		return "", err
	}
	if s.sealed(name) {
		return s.path(name), nil
	}
	lock := flock.New(s.path(p.Main + ".lock"))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return "", fmt.Errorf("wait for another process to make the class archive of %s: %w", p.Main, err)
	}
	defer lock.Close()
	if s.sealed(name) {
		return s.path(name), nil
	}
	if _, err := os.Stat(s.path(name + failedSuffix)); err == nil {
		return "", nil
	}
	return s.make(ctx, p, name, list)
}

// archive is the name of the archive: another build of Java or another time of
// a jar makes another one.
func (p Program) archive() (string, error) {
	parts := []string{p.Build}
	for _, jar := range p.Jars {
		info, err := os.Stat(jar)
		if err != nil {
			return "", fmt.Errorf("look at the class path of %s: %w", p.Main, err)
		}
		parts = append(parts, jar, info.ModTime().String())
	}
	return p.Main + "-" + digest(parts...) + archiveSuffix, nil
}

// make runs Java on the list. The lock of the program is held.
func (s Store) make(ctx context.Context, p Program, name, list string) (string, error) {
	s.progress("make the class archive of %s, once", p.Main)
	began := time.Now()
	s.forget(p.Main)
	part := s.path("." + name + ".part")
	log := s.path(p.Main + ".log")
	defer func() { _ = os.Remove(part) }()
	err := s.Run(ctx, append([]string{p.Java}, Dump(list, part, strings.Join(p.Jars, ":"))...), s.Dir, log)
	if ctx.Err() != nil {
		return "", fmt.Errorf("make the class archive of %s: %w", p.Main, context.Cause(ctx))
	}
	if err == nil {
		err = os.Rename(part, s.path(name))
	}
	if err == nil {
		err = s.seal(name)
	}
	if err != nil {
		s.progress("no class archive of %s, so it starts slower: %v; log: %s", p.Main, err, log)
		return "", s.write(name+failedSuffix, []byte(err.Error()+"\n"))
	}
	s.progress("made the class archive of %s in %v", p.Main, time.Since(began).Round(time.Millisecond))
	return s.path(name), nil
}

// forget removes the archives of other builds and jars.
func (s Store) forget(main string) {
	old, _ := filepath.Glob(s.path(main + "-*" + archiveSuffix + "*"))
	for _, path := range old {
		_ = os.Remove(path)
	}
	_ = os.Remove(s.path(main + ".log"))
}
