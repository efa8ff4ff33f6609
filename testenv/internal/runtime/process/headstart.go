package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	goruntime "runtime"

	"golang.org/x/sync/errgroup"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/headstart"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// classList is the file below a node's directory that its classes are written to.
const classList = "classes.txt"

// findArchives finds those of several nodes, as many at a time as there are processors.
func findArchives(ctx context.Context, nodes []*node) {
	var g errgroup.Group
	g.SetLimit(goruntime.NumCPU())
	for _, n := range nodes {
		g.Go(func() error {
			n.findArchive(ctx)
			return nil
		})
	}
	_ = g.Wait()
}

// findArchive finds the class-data archive of a node whose classes are known, or makes
// it. What fails here makes a start slower, no more.
func (n *node) findArchive(ctx context.Context) {
	var err error
	if n.archive, err = n.classArchive(ctx); err != nil && n.start.Progress != nil {
		n.start.Progress("%s starts without a class archive: %v", n.Name(), err)
	}
}

func (n *node) classArchive(ctx context.Context) (string, error) {
	main := n.Launch().Main.Class
	if _, there := n.start.Classes(main); !there {
		return "", nil
	}
	build, err := n.runtime.build()
	if err != nil {
		return "", err
	}
	return n.start.Archive(ctx, headstart.Program{Main: main, Java: n.runtime.java, Build: build, Jars: n.classPath()})
}

// classFlags let the JVM use the archive, or else write its classes down.
func (n *node) classFlags() []string {
	if n.archive != "" {
		return headstart.Use(n.archive)
	}
	return []string{headstart.Record(filepath.Join(n.home, classList))}
}

// prepare sets the node up at its very first start, or takes what an earlier
// one's setup made.
func (n *node) prepare(ctx context.Context, l broker.Launch) error {
	if n.setUp {
		return nil
	}
	made, there := n.start.Setup(l.MadeFrom)
	if l.Makes == "" || !there {
		return n.runSetup(ctx, l)
	}
	for name, content := range made {
		if err := n.writeFile(path.Join(l.Makes, name), content); err != nil {
			return err
		}
	}
	n.setUp = true
	return nil
}

func (n *node) runSetup(ctx context.Context, l broker.Launch) error {
	for _, p := range l.Setup {
		if err := n.runtime.session.Run(ctx, n.command(l, p)); err != nil {
			return fmt.Errorf("set up %s with %s: %w", n.Name(), p.Class, err)
		}
	}
	n.setUp = true
	if l.Makes == "" {
		return nil
	}
	made, err := headstart.Files(filepath.Join(n.home, l.Makes))
	if err != nil {
		return fmt.Errorf("read what the setup of %s made: %w", n.Name(), err)
	}
	// A full cache costs the next start the same setup again, and nothing else.
	_ = n.start.KeepSetup(l.MadeFrom, made)
	return nil
}

func (n *node) Keep(context.Context) error {
	list, err := os.ReadFile(filepath.Join(n.home, classList))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the classes of %s: %w", n.Name(), err)
	}
	return n.start.KeepClasses(n.Launch().Main.Class, list)
}

// store is the head start of the jars with this key.
func (r *Runtime) store(key string, progress func(string, ...any)) headstart.Store {
	s := headstart.New(r.cache.Dir, key, func(ctx context.Context, args []string, dir, log string) error {
		return r.session.Run(ctx, supervisor.Command{Args: args, Dir: dir, Log: log})
	})
	s.Progress = progress
	return s
}
