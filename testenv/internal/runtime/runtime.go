// Package runtime says where the nodes of a broker run: in containers or as
// processes of this machine. Both run the same jars with the same files.
package runtime

import (
	"context"
	"errors"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
)

// Runtime is a place where brokers run.
type Runtime interface {
	// Name is "process" or "container".
	Name() string
	// Relays says that somebody who stands between takes connections to Address, also
	// while the node does not.
	Relays() bool
	// Place gives the nodes of one broker their ports, directories and, where
	// the runtime has one, their network. Nothing is started yet, but jars and
	// images are made ready.
	Place(ctx context.Context, p Placement) ([]Node, error)
	// Prepare makes ready what nodes of this bill are started from, as Place would,
	// and downloads what is not there. Progress is told what takes long.
	Prepare(ctx context.Context, bill dist.Bill, progress func(format string, args ...any)) (Prepared, error)
}

// Prepared is what nodes are started from.
type Prepared struct {
	// Name is a directory of jars, or an image.
	Name string
	// Bytes is its size.
	Bytes int64
}

// Placement is one broker to place.
type Placement struct {
	Nodes []broker.Node
	// Advertised is the host:port of the link in front of a client port.
	Advertised func(node, port string) string
	// LogDir is an existing directory; the output of each node goes to NAME.log there.
	LogDir string
	// Died is called, once a run, when a node ends without having been asked
	// to. It is called on a goroutine of the runtime's.
	Died func(node string, err error)
	// Progress is told what goes on while something takes long.
	Progress func(format string, args ...any)
}

// Node is a placed node. Its methods are for one goroutine at a time, but for
// Name, Address, LogFile, Launch and Where.
type Node interface {
	Name() string
	// Start starts the node and returns once its process runs, not when it is ready.
	Start(ctx context.Context) error
	// Stop asks the node to end (TERM) and waits; if ctx ends first, it is killed.
	Stop(ctx context.Context) error
	// Kill ends the node at once (KILL) and waits until it is gone.
	Kill(ctx context.Context) error
	// Pause freezes the node; Resume lets it go on.
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	// DumpThreads makes the JVM write its threads to its log (QUIT).
	DumpThreads(ctx context.Context) error
	// Keep keeps what this start found out, so that later ones of the same jars
	// are quicker. It is for a node that has been ready.
	Keep(ctx context.Context) error
	// Address is where this machine reaches a port of the node now: host:port
	// on loopback. It may change with a start.
	Address(port string) (string, error)
	// LogFile is the file on this machine that holds the node's output.
	LogFile() string
	// Launch is what a start of the node starts: its rendered files and its JVM's flags.
	Launch() broker.Launch
	// Where is what it runs on, in words: the image, or the java of this machine.
	Where() string
	// Fetch makes ready what Become needs of a bill, also while the node runs.
	Fetch(ctx context.Context, bill dist.Bill, progress func(format string, args ...any)) error
	// Become makes a node that does not run start as another one next time, of another
	// version or configuration, on what it has written so far. Its name and ports stay.
	Become(ctx context.Context, next broker.Node, progress func(format string, args ...any)) error
	// Disk is the file system of its own that the node's data lie on (DataLimit), or why
	// it has none.
	Disk() (Disk, error)
	// Close kills what runs and removes what Place made. It is idempotent.
	Close(ctx context.Context) error
}

// ErrNotRunning is the error of what only a node that runs can do or tell.
var ErrNotRunning = errors.New("it does not run")

// Disk is a file system that has nothing but a node's data. It is there from the node's
// first start to its Close, whether or not the node runs.
type Disk interface {
	// Fill takes all the room that is left.
	Fill(ctx context.Context) error
	// Full says what room there is; nil is none at all: it was tried to write there.
	Full(ctx context.Context) error
	// Clear gives back what Fill took. It is idempotent.
	Clear(ctx context.Context) error
}
