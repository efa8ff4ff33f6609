package broker

import "github.com/brokerfault/brokerfault/testenv/internal/dist"

// Node is one JVM of a broker, as data. It knows no runtime: where it runs is
// told to Launch in a Site.
type Node struct {
	// Name is unique within the broker and fit for a host name: "pulsar", "kafka-1".
	Name string
	// Bill says which jars are on its class path.
	Bill dist.Bill
	// Ports are all ports that it listens on.
	Ports []Port
	// Launch renders what to start at a site.
	Launch func(at Site) Launch
	// Data is the directory below Home that a broker stores messages in, and nothing
	// that is written before each start; empty where the node stores none.
	Data string
	// DataLimit is the size in bytes of a file system that Data has for itself; zero
	// is none, so that Data lies beside the rest.
	DataLimit int64
	// StopsLast says that it is stopped when the others have ended: they need it for that.
	StopsLast bool
}

// Port is a port that a node listens on.
type Port struct {
	// Name is unique within the node: "binary", "http".
	Name string
	// Inside is the number used where the node has a network of its own (a
	// container). A process is given a free port of the machine instead.
	Inside int
	// Client says that clients use this port, so that a link lies in front of it.
	Client bool
	// AsAdvertised says that, in a network of its own, the node listens on the
	// number of its link instead of Inside: for a broker that connects to itself
	// at the address that it advertises.
	AsAdvertised bool
	// Also are the distances from its number to those of further ports that the
	// node opens with it. They are held where the node is given its ports.
	Also []int
	// Everywhere says that a process opens it on every interface, because the
	// broker has no setting for the address.
	Everywhere bool
}

// Site is where a node finds itself, seen from inside.
type Site struct {
	// Node is the node's own name.
	Node string
	// Home is the node's own directory, absolute, there and empty at its first start.
	Home string
	// Bind is the address to listen on.
	Bind string
	// Port is the number to listen on for one of the node's own ports.
	Port func(name string) int
	// Peer is the host:port at which a node of the same broker, itself
	// included, is reached by the other nodes.
	Peer func(node, port string) string
	// Advertised is the host:port of the link in front of one of the node's
	// client ports: what the broker tells its clients.
	Advertised func(port string) string
}

// Launch is what to start.
type Launch struct {
	// Setup are JVMs that run to their end, in order, before the node's very first start.
	Setup []Program
	// Makes is the directory below Home that Setup makes, if all that it makes lies
	// there and is the same wherever MadeFrom and the jars are: it may be copied from
	// an earlier node's. Empty means that it may not.
	Makes string
	// MadeFrom is what Setup's work depends on beside the jars.
	MadeFrom string
	// Main is the broker itself.
	Main Program
	// JVM are the flags of every one of these JVMs, heap and --add-opens among them.
	JVM []string
	// Env are environment variables, KEY=VALUE.
	Env []string
	// Files are rendered files: path below Home to content. They are written before each start.
	Files map[string]string
}

// Program is a Java program.
type Program struct {
	Class string
	Args  []string
}
