package testenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// wireLimit bounds a handshake or a round trip of the harness itself.
const wireLimit = 5 * time.Second

// dialBounded connects; the connection ends with the context, after wireLimit at most.
func dialBounded(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	deadline := time.Now().Add(wireLimit)
	if end, bounded := ctx.Deadline(); bounded && end.Before(deadline) {
		deadline = end
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, errors.Join(fmt.Errorf("bound the connection to %s: %w", address, err), conn.Close())
	}
	return conn, nil
}
