//go:build !linux

package process

import (
	"fmt"
	"net"
)

// port is a port that was free when asked for. Elsewhere than on Linux it
// cannot be held for a server that sets SO_REUSEADDR, so between the asking
// and the node's start somebody else may take it; the node then ends with
// "address already in use".
type port struct{ Number int }

// holdPort finds a port. Those at these distances from it are left to luck.
func holdPort(...int) (*port, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return &port{Number: l.Addr().(*net.TCPAddr).Port}, nil
}

func (*port) Close() {}
