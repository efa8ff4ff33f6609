package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// port is a port of the loopback address that is held from before the node
// starts until it is closed, over any number of restarts.
//
// It is bound, but never listened on. Linux gives such a port to nobody who
// asks for a free one, neither to bind nor to connect from, while a server
// that sets SO_REUSEADDR, as every Java server does, may bind it and listen.
type port struct {
	Number int
	fds    []int
}

// holdTries bounds how often a neighbour of the port may be taken.
const holdTries = 50

// holdPort holds a port, and those at these distances from it.
func holdPort(also ...int) (*port, error) {
	for try := 1; ; try++ {
		p := &port{}
		err := p.hold(0)
		for _, distance := range also {
			if err == nil {
				err = p.hold(p.Number + distance)
			}
		}
		if err == nil {
			return p, nil
		}
		p.Close()
		if !errors.Is(err, unix.EADDRINUSE) || try == holdTries {
			return nil, err
		}
	}
}

// hold holds this number, or, if it is 0, one of the kernel's choice.
func (p *port) hold(number int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("hold a port: %w", err)
	}
	p.fds = append(p.fds, fd)
	// The option comes after bind: an unshared bind is given a port that no
	// other holder has.
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: number, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return fmt.Errorf("hold a port: %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return fmt.Errorf("share the held port: %w", err)
	}
	if number != 0 {
		return nil
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return fmt.Errorf("ask for the held port: %w", err)
	}
	p.Number = name.(*unix.SockaddrInet4).Port
	return nil
}

func (p *port) Close() {
	for _, fd := range p.fds {
		_ = unix.Close(fd)
	}
	p.fds = nil
}
