package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/headstart"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

type node struct {
	name string
	node broker.Node // Become replaces it

	runtime *Runtime
	jars    dist.Jars
	home    string
	log     string
	site    broker.Site
	ports   map[string]*port
	died    func(string, error)

	start   headstart.Store
	archive string // of its classes, if there is one
	setUp   bool
	process *supervisor.Process
	watch   sync.WaitGroup

	mu    sync.Mutex
	asked bool // the present run was asked to end
}

func (n *node) Name() string          { return n.name }
func (n *node) LogFile() string       { return n.log }
func (n *node) Launch() broker.Launch { return n.node.Launch(n.site) }
func (n *node) Where() string         { return n.runtime.java + ", " + n.runtime.version }

func (n *node) Address(port string) (string, error) {
	if n.ports[port] == nil {
		return "", fmt.Errorf("%s has no port %q", n.Name(), port)
	}
	return n.address(port), nil
}

func (n *node) Start(ctx context.Context) error {
	if n.runs() {
		return fmt.Errorf("start %s: it runs already", n.Name())
	}
	l := n.Launch()
	if err := os.MkdirAll(n.scratch(), 0o755); err != nil {
		return fmt.Errorf("make a directory of %s: %w", n.Name(), err)
	}
	if err := n.write(l.Files); err != nil {
		return err
	}
	if err := n.prepare(ctx, l); err != nil {
		return err
	}
	p, err := n.runtime.session.Start(n.command(l, l.Main, n.classFlags()...))
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.asked = false
	n.mu.Unlock()
	n.process = p
	n.watch.Go(func() { n.await(p) })
	return nil
}

func (n *node) await(p *supervisor.Process) {
	<-p.Done()
	n.mu.Lock()
	asked := n.asked
	n.mu.Unlock()
	if asked || n.died == nil {
		return
	}
	err := p.Err()
	if err == nil {
		err = errors.New("exit status 0")
	}
	n.died(n.Name(), err)
}

func (n *node) write(files map[string]string) error {
	for name, content := range files {
		if err := n.writeFile(name, []byte(content)); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) writeFile(name string, content []byte) error {
	path := filepath.Join(n.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write a file of %s: %w", n.Name(), err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write a file of %s: %w", n.Name(), err)
	}
	return nil
}

// classPath are the jars in the order of their names.
func (n *node) classPath() []string {
	paths := make([]string, len(n.jars.Names))
	for i, name := range n.jars.Names {
		paths[i] = filepath.Join(n.jars.Dir, name)
	}
	return paths
}

// scratch takes what a JVM would leave in the directory for temporary files when it is
// killed: the native libraries of RocksDB, Snappy and BookKeeper, some 14 MB a start.
func (n *node) scratch() string { return filepath.Join(n.home, "tmp") }

func (n *node) command(l broker.Launch, p broker.Program, flags ...string) supervisor.Command {
	// The JVM keeps its performance data in /tmp, whatever java.io.tmpdir says.
	args := []string{n.runtime.java, "-Djava.io.tmpdir=" + n.scratch(), "-XX:-UsePerfData"}
	args = append(args, l.JVM...)
	args = append(args, flags...)
	args = append(args, "-cp", strings.Join(n.classPath(), ":"), p.Class)
	return supervisor.Command{
		Args: append(args, p.Args...),
		Env:  append(os.Environ(), l.Env...),
		Dir:  n.home,
		Log:  n.log,
	}
}

func (n *node) runs() bool {
	if n.process == nil {
		return false
	}
	select {
	case <-n.process.Done():
		return false
	default:
		return true
	}
}

func (n *node) ask() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = true
}

func (n *node) Stop(ctx context.Context) error {
	if !n.runs() {
		return nil
	}
	n.ask()
	// A paused process would not hear TERM before it goes on.
	if err := errors.Join(n.process.Signal(syscall.SIGTERM), n.process.Signal(syscall.SIGCONT)); err != nil {
		return fmt.Errorf("stop %s: %w", n.Name(), err)
	}
	select {
	case <-n.process.Done():
		return nil
	case <-ctx.Done():
		return n.Kill(context.WithoutCancel(ctx))
	}
}

func (n *node) Kill(context.Context) error {
	if !n.runs() {
		return nil
	}
	n.ask()
	if err := n.process.Signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", n.Name(), err)
	}
	<-n.process.Done()
	return nil
}

func (n *node) signal(verb string, s syscall.Signal) error {
	if !n.runs() {
		return fmt.Errorf("%s %s: it does not run", verb, n.Name())
	}
	if err := n.process.Signal(s); err != nil {
		return fmt.Errorf("%s %s: %w", verb, n.Name(), err)
	}
	return nil
}

func (n *node) Pause(ctx context.Context) error {
	if err := n.signal("pause", syscall.SIGSTOP); err != nil {
		return err
	}
	if err := awaitFrozen(ctx, n.process.PID); err != nil {
		return fmt.Errorf("pause %s: %w", n.Name(), err)
	}
	return nil
}

func (n *node) Resume(context.Context) error { return n.signal("resume", syscall.SIGCONT) }
func (n *node) DumpThreads(context.Context) error {
	return n.signal("dump the threads of", syscall.SIGQUIT)
}

// Disk implements runtime.Node.
func (n *node) Disk() (runtime.Disk, error) {
	return nil, fmt.Errorf("the data of %s lie on a disk of this machine, which others need: run it in a container (BROKERFAULT_BACKEND=container) "+
		"and give it a DataLimit", n.Name())
}

func (n *node) Close(ctx context.Context) error {
	err := n.Kill(ctx)
	n.watch.Wait()
	for _, p := range n.ports {
		p.Close()
	}
	if e := os.RemoveAll(n.home); e != nil {
		err = errors.Join(err, fmt.Errorf("remove the directory of %s: %w", n.Name(), e))
	}
	return err
}
