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

// archives makes the class-data archives of nodes whose classes are known. What
// fails here makes a start slower, no more.
func archives(ctx context.Context, nodes []*node, progress func(string, ...any)) error {
	var g errgroup.Group
	g.SetLimit(goruntime.NumCPU())
	for _, n := range nodes {
		g.Go(func() error {
			err := n.findArchive(ctx)
			if err != nil && progress != nil {
				progress("%s starts without a class archive: %v", n.Name(), err)
			}
			return context.Cause(ctx)
		})
	}
	return g.Wait()
}

func (n *node) findArchive(ctx context.Context) error {
	main := n.node.Launch(n.site).Main.Class
	if _, there := n.start.Classes(main); !there {
		return nil
	}
	build, err := n.runtime.build()
	if err != nil {
		return err
	}
	n.archive, err = n.start.Archive(ctx, headstart.Program{Main: main, Java: n.runtime.java, Build: build, Jars: n.classPath()})
	return err
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
	return n.start.KeepClasses(n.node.Launch(n.site).Main.Class, list)
}

// store is the head start of the jars with this key.
func (r *Runtime) store(key string, progress func(string, ...any)) headstart.Store {
	s := headstart.New(r.cache.Dir, key, func(ctx context.Context, args []string, dir, log string) error {
		return r.session.Run(ctx, supervisor.Command{Args: args, Dir: dir, Log: log})
	})
	s.Progress = progress
	return s
}
