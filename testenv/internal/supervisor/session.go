package supervisor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

// Session is everything that this process started through its supervisor.
type Session struct {
	// ID is unique on this machine; containers and networks carry it as their Label.
	ID string
	// Dir is removed with the session.
	Dir string

	// lock is held as long as this process lives.
	lock *os.File

	mu      sync.Mutex
	in      io.Writer
	next    int
	started map[int]chan *Process
	running map[int]*Process
	gone    bool
}

// ErrGone says that the supervisor itself has ended: somebody killed it.
var ErrGone = errors.New("the supervisor of this process has ended")

var (
	once    sync.Once
	current *Session
	failed  error
)

// Current is this process's session. The first call starts it, after having
// removed what provably abandoned sessions left.
func Current() (*Session, error) {
	once.Do(func() { current, failed = open(Root()) })
	return current, failed
}

func open(root string) (*Session, error) {
	dir, lock, err := newDir(root)
	if err != nil {
		return nil, err
	}
	s, err := supervise(root, dir, lock)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return s, nil
}

// supervise starts the supervisor. It holds the lock as well, and so does what
// it starts: the session is not abandoned before all of them are gone.
func supervise(root, dir string, lock *os.File) (*Session, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), settings.Supervise+"=1", settings.SuperviseSession+"="+dir)
	cmd.Dir = root
	cmd.ExtraFiles = []*os.File{lock}
	cmd.SysProcAttr = ownSession()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("open a pipe to the supervisor: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("open a pipe from the supervisor: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	s := &Session{
		ID: filepath.Base(dir), Dir: dir, lock: lock, in: in,
		started: map[int]chan *Process{}, running: map[int]*Process{},
	}
	go s.listen(out)
	return s, nil
}

func (s *Session) send(r request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return ErrGone
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode a request to the supervisor: %w", err)
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write to the supervisor: %w", err)
	}
	return nil
}

// OwnsContainers tells the supervisor which engine (an address, as in
// DOCKER_HOST) holds containers of this session. Call it before the first is made.
func (s *Session) OwnsContainers(engine string) error {
	if err := os.WriteFile(filepath.Join(s.Dir, engineFile), []byte(engine), 0o600); err != nil {
		return fmt.Errorf("note the container engine: %w", err)
	}
	return s.send(request{Op: opEngine, Engine: engine})
}

func (s *Session) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var a answer
		if json.Unmarshal(lines.Bytes(), &a) == nil {
			s.heard(a)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	for _, c := range s.started {
		c <- &Process{err: ErrGone}
	}
	for _, p := range s.running {
		p.end(ErrGone)
	}
}

func (s *Session) heard(a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch a.Op {
	case opStarted, opFailed:
		p := &Process{PID: a.PID, id: a.ID, session: s, done: make(chan struct{})}
		if a.Op == opStarted {
			s.running[a.ID] = p
		} else {
			p.err = errors.New(a.Error)
		}
		if c, ok := s.started[a.ID]; ok {
			delete(s.started, a.ID)
			c <- p
		}
	case opExited:
		if p, ok := s.running[a.ID]; ok {
			delete(s.running, a.ID)
			var err error
			if a.Exit != "" {
				err = errors.New(a.Exit)
			}
			p.end(err)
		}
	}
}
