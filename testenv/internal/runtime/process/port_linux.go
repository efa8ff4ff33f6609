package process

import (
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
	fd     int
}

func holdPort() (*port, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("hold a port: %w", err)
	}
	p := &port{fd: fd}
	// The option comes after bind: an unshared bind is given a port that no
	// other holder has.
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		p.Close()
		return nil, fmt.Errorf("hold a port: %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		p.Close()
		return nil, fmt.Errorf("share the held port: %w", err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("ask for the held port: %w", err)
	}
	p.Number = name.(*unix.SockaddrInet4).Port
	return p, nil
}

func (p *port) Close() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
		p.fd = -1
	}
}
