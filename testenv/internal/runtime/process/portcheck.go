package process

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"
)

// CheckPorts says whether a broker could have a port of loopback here: one is held as for
// a broker, listened on as a broker would, and connected to.
func CheckPorts(ctx context.Context) error {
	held, err := holdPort()
	if err != nil {
		return err
	}
	defer held.Close()
	address := net.JoinHostPort(loopback, strconv.Itoa(held.Number))
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp4", address)
	if err != nil {
		return fmt.Errorf("listen on a held port: %w", err)
	}
	defer l.Close()
	dialer := net.Dialer{Timeout: time.Second}
	c, err := dialer.DialContext(ctx, "tcp4", address)
	if err != nil {
		return fmt.Errorf("connect to a held port: %w", err)
	}
	return c.Close()
}
