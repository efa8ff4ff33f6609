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

// greeting makes a client's first round trip on a connection that nothing was sent on.
// It is a whole one: the answer comes from who has read the question.
type greeting func(conn net.Conn) error

// greetAt makes the round trip on a connection of its own.
func greetAt(ctx context.Context, address string, greet greeting) error {
	conn, err := dialBounded(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	return greet(conn)
}

// dialBounded connects; the connection ends with the context, after wireLimit at most.
func dialBounded(ctx context.Context, address string) (net.Conn, error) {
	return dialWithin(ctx, address, wireLimit)
}

// dialWithin connects; the connection ends with the context, after the limit at most.
func dialWithin(ctx context.Context, address string, limit time.Duration) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	deadline := time.Now().Add(limit)
	if end, bounded := ctx.Deadline(); bounded && end.Before(deadline) {
		deadline = end
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, errors.Join(fmt.Errorf("bound the connection to %s: %w", address, err), conn.Close())
	}
	return conn, nil
}
