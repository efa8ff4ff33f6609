package kafkawire

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// ways are a link without rules, with rules that do nothing, with one for another
// key, and a connection that had a frame kept back once.
func ways(b *testing.B, handle func(*net.TCPConn), run func(*testing.B, net.Conn)) {
	target := serve(b, handle)
	b.Run("plain", func(b *testing.B) { run(b, dial(b, open(b, nil, target).Address())) })
	b.Run("counted", func(b *testing.B) { run(b, dial(b, open(b, New(), target).Address())) })
	b.Run("ruled", func(b *testing.B) {
		r := New()
		r.Add(Match{Key: metadata}, Drop())
		run(b, dial(b, open(b, r, target).Address()))
	})
	b.Run("released", func(b *testing.B) {
		r := New()
		late := r.Add(Match{Key: produce}, Delay(0))
		conn := dial(b, open(b, r, target).Address())
		roundTrip(b, conn)
		late.Remove()
		run(b, conn)
	})
}

func roundTrip(b *testing.B, conn net.Conn) {
	b.Helper()
	_, err := conn.Write(request(produce, 1, 100))
	require.NoError(b, err)
	_, err = io.ReadFull(conn, make([]byte, responseBytes+40))
	require.NoError(b, err)
}

func BenchmarkRoundTrip(b *testing.B) {
	ways(b, answers(40), func(b *testing.B, conn net.Conn) {
		for b.Loop() {
			roundTrip(b, conn)
		}
	})
}

// BenchmarkThroughput sends requests of 16 KiB, as a busy producer does.
func BenchmarkThroughput(b *testing.B) {
	const body = 16 << 10
	frame := request(produce, 1, body)
	ways(b, func(conn *net.TCPConn) {
		buffer := make([]byte, 64<<10)
		size := make([]byte, sizeBytes)
		if _, err := io.ReadFull(conn, size); err != nil {
			return
		}
		_, _ = io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(size)))
		_, _ = conn.Write(response(1, 40))
		for {
			if _, err := conn.Read(buffer); err != nil {
				return
			}
		}
	}, func(b *testing.B, conn net.Conn) {
		b.SetBytes(int64(len(frame)))
		for b.Loop() {
			_, err := conn.Write(frame)
			require.NoError(b, err)
		}
	})
}
