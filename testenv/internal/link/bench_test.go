package link

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// paths are what a client's bytes may go through. Cleared is a connection that had
// a delay once.
func paths(b *testing.B, handle func(*net.TCPConn), run func(*testing.B, *net.TCPConn)) {
	target := serve(b, handle)
	b.Run("direct", func(b *testing.B) { run(b, dial(b, target)) })
	b.Run("link", func(b *testing.B) { run(b, dial(b, open(b, target).Address())) })
	b.Run("cleared", func(b *testing.B) {
		l := open(b, target)
		conn := dial(b, l.Address())
		l.Delay(time.Millisecond)
		_, err := conn.Write([]byte("ping"))
		require.NoError(b, err)
		_, err = io.ReadFull(conn, make([]byte, 4))
		require.NoError(b, err)
		l.Delay(0)
		run(b, conn)
	})
}

func BenchmarkRoundTrip(b *testing.B) {
	paths(b, echo, func(b *testing.B, conn *net.TCPConn) {
		answer := make([]byte, 4)
		for b.Loop() {
			_, _ = conn.Write([]byte("ping"))
			_, err := io.ReadFull(conn, answer)
			require.NoError(b, err)
		}
	})
}

func BenchmarkThroughput(b *testing.B) {
	const block = 1 << 20
	paths(b, func(conn *net.TCPConn) {
		word := make([]byte, 4)
		_, _ = io.ReadFull(conn, word)
		_, _ = conn.Write(word)
		_, _ = io.Copy(io.Discard, conn)
	}, func(b *testing.B, conn *net.TCPConn) {
		b.SetBytes(block)
		data := make([]byte, block)
		for b.Loop() {
			_, err := conn.Write(data)
			require.NoError(b, err)
		}
	})
}
