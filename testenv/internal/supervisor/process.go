package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Command is what to start.
type Command struct {
	Args []string
	// Env is the whole environment; nil is this process's own.
	Env []string
	// Dir is the working directory; it must be there.
	Dir string
	// Log is the file that standard output and error are appended to.
	Log string
}

// Process is a started command, the leader of a process group of its own.
type Process struct {
	PID     int
	id      int
	session *Session
	done    chan struct{}
	err     error
}

// Start starts a command.
func (s *Session) Start(c Command) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("start a process: no command given")
	}
	if c.Env == nil {
		c.Env = os.Environ()
	}
	s.mu.Lock()
	s.next++
	id, started := s.next, make(chan *Process, 1)
	s.started[id] = started
	s.mu.Unlock()
	r := request{Op: opStart, ID: id, Args: c.Args, Env: c.Env, Dir: c.Dir, Log: c.Log}
	if err := s.send(r); err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Args[0], err)
	}
	p := <-started
	if p.PID == 0 {
		return nil, fmt.Errorf("start %q: %w", c.Args[0], p.err)
	}
	return p, nil
}

// Run starts a command and waits for its end. If ctx ends first, the process
// group is killed and the cause returned.
func (s *Session) Run(ctx context.Context, c Command) error {
	p, err := s.Start(c)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
		return p.Err()
	case <-ctx.Done():
		_ = p.Signal(syscall.SIGKILL)
		<-p.Done()
		return context.Cause(ctx)
	}
}

// Done is closed once the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how an ended process ended; nil is exit status 0.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Signal sends a signal to the process group; to an ended one it does nothing.
func (p *Process) Signal(sig syscall.Signal) error {
	return p.session.send(request{Op: opSignal, ID: p.id, Signal: int(sig)})
}

func (p *Process) end(err error) {
	p.err = err
	close(p.done)
}
