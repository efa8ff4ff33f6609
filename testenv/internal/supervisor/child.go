package supervisor

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

// init turns this program into the supervisor when its parent asked for it.
// It runs before main and before any test flag is parsed.
func init() {
	if os.Getenv(settings.Supervise) == "" {
		return
	}
	// Caught and dropped, not ignored: what is ignored stays so in a child, and a
	// JVM that finds TERM ignored does not shut down when it is asked to.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGQUIT)
	c := &child{out: json.NewEncoder(os.Stdout), running: map[int]int{}}
	c.serve(os.Stdin)
	c.end(os.Getenv(settings.SuperviseSession))
	os.Exit(0)
}

// child is the state of the supervisor's own process.
type child struct {
	mu      sync.Mutex
	out     *json.Encoder
	running map[int]int // request id to process group
	waits   sync.WaitGroup
	ending  bool
	engine  string
}

// serve ends when the pipe to the supervised process breaks.
func (c *child) serve(in io.Reader) {
	starts := make(chan request)
	// A child is killed by the kernel when the thread that forked it ends
	// (Pdeathsig), so all of them are forked by one thread that lives as long
	// as the supervisor: should somebody kill the supervisor itself, they go too.
	go func() {
		runtime.LockOSThread()
		for r := range starts {
			c.start(r)
		}
	}()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		switch r.Op {
		case opStart:
			starts <- r
		case opSignal:
			c.signal(r.ID, syscall.Signal(r.Signal))
		case opEngine:
			c.mu.Lock()
			c.engine = r.Engine
			c.mu.Unlock()
		}
	}
}

func (c *child) start(r request) {
	log, err := os.OpenFile(r.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.say(answer{ID: r.ID, Op: opFailed, Error: err.Error()})
		return
	}
	defer log.Close()
	cmd := exec.Command(r.Args[0], r.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.Dir, r.Env, log, log
	cmd.SysProcAttr = processGroup()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return
	}
	if err := cmd.Start(); err != nil {
		c.sayLocked(answer{ID: r.ID, Op: opFailed, Error: err.Error()})
		return
	}
	c.running[r.ID] = cmd.Process.Pid
	c.sayLocked(answer{ID: r.ID, Op: opStarted, PID: cmd.Process.Pid})
	c.waits.Add(1)
	go func() {
		defer c.waits.Done()
		// Whatever the leader forked goes with it, and does so while the
		// leader's id is still its own: before it is waited for.
		awaitEnd(cmd.Process.Pid)
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		err := cmd.Wait()
		delete(c.running, r.ID)
		a := answer{ID: r.ID, Op: opExited}
		if err != nil {
			a.Exit = err.Error()
		}
		c.sayLocked(a)
	}()
}

// signal reaches the whole process group. The lock keeps the id from being
// used after the process was waited for, when it may be somebody else's.
func (c *child) signal(id int, s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pid, ok := c.running[id]; ok {
		_ = syscall.Kill(-pid, s)
	}
}

func (c *child) say(a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sayLocked(a)
}

func (c *child) sayLocked(a answer) { _ = c.out.Encode(a) }

// end leaves nothing behind.
func (c *child) end(dir string) {
	c.mu.Lock()
	c.ending = true
	for _, pid := range c.running {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	engine := c.engine
	c.mu.Unlock()
	c.waits.Wait()
	removeSession(dir, engine)
}
