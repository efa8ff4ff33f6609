package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Echo sends n bytes through the link to an echo in the target's place and returns how
// long it took until all were back. They take the way of a client's bytes, past the
// inspector alone, so this measures the link's shape without burdening the target.
func (l *Link) Echo(ctx context.Context, n int64) (time.Duration, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, fmt.Errorf("listen for an echo through link %q: %w", l.name, err)
	}
	var far sync.WaitGroup
	defer far.Wait()
	defer listener.Close()
	conn, near, err := loop(ctx, listener)
	if err != nil {
		return 0, fmt.Errorf("connect for an echo through link %q: %w", l.name, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	far.Go(func() {
		if conn, err := listener.AcceptTCP(); err == nil {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}
	})
	target := func() (string, error) { return listener.Addr().String(), nil }
	if s := l.admit(near, target, nil); s != nil {
		defer s.abort()
	}
	begin := time.Now()
	sent := make(chan error, 1)
	go func() {
		_, err := io.CopyN(conn, blank{}, n)
		sent <- err
	}()
	_, err = io.CopyN(io.Discard, conn, n)
	took := time.Since(begin)
	conn.Close() // whatever is still being sent
	if err = errors.Join(err, <-sent); err != nil {
		return took, fmt.Errorf("echo through link %q: %w", l.name, err)
	}
	return took, nil
}

// loop makes the two ends of a connection.
func loop(ctx context.Context, listener *net.TCPListener) (conn net.Conn, near *net.TCPConn, err error) {
	conn, err = new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
	if err != nil {
		return nil, nil, err
	}
	near, err = listener.AcceptTCP()
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, near, nil
}

// blank is a source of bytes that mean nothing.
type blank struct{}

func (blank) Read(b []byte) (int, error) { return len(b), nil }
