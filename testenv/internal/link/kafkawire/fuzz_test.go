package kafkawire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// through sends bytes through rules, requests first, in pieces of these sizes, and returns
// what came out at either end.
func through(t *testing.T, r *Rules, up, down, sizes []byte) (server, client []byte) {
	t.Helper()
	w := &wire{t: t, over: make(chan struct{})}
	w.up, w.down = r.Inspect(w, func(b []byte) { w.toServer.Write(b) }, func(b []byte) { w.toClient.Write(b) })
	cut := func(data []byte, pass func([]byte)) {
		for i := 0; len(data) > 0; i++ {
			n := len(data)
			if len(sizes) > 0 {
				n = min(n, 1+int(sizes[i%len(sizes)]))
			}
			piece := bytes.Clone(data[:n])
			pass(piece)
			clear(piece) // it is the caller's again
			data = data[n:]
		}
	}
	cut(up, w.up.Pass)
	w.up.End()
	cut(down, w.down.Pass)
	w.down.End()
	return w.toServer.Bytes(), w.toClient.Bytes()
}

// FuzzFrames feeds both directions with what need not be Kafka's. Whatever it is, it
// passes unchanged where no rule is for it, and where one is, what passes does not depend
// on the pieces in which it comes.
func FuzzFrames(f *testing.F) {
	f.Add(request(metadata, 1, 10), response(1, 10), []byte{0}, byte(metadata))
	f.Add(append(request(produce, 1, 100), request(metadata, 2, 0)...), append(response(2, 3), response(1, 0)...), []byte{2, 200}, byte(produce))
	f.Add(request(metadata, -1, 5)[:13], response(1, 10)[:6], []byte{6}, byte(metadata))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), []byte("HTTP/1.1 200 OK\r\n"), []byte{}, byte(0))
	f.Add([]byte{0, 0, 0, 8, 0, 3, 0, 99, 0, 0, 0, 1, 0xff}, []byte{0, 0, 0, 3}, []byte{1}, byte(3))
	f.Add([]byte{0x0f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0}, []byte{0x10}, []byte{3}, byte(0))
	f.Fuzz(func(t *testing.T, up, down, sizes []byte, key byte) {
		server, client := through(t, New(), up, down, sizes)
		require.True(t, bytes.Equal(up, server), "requests are changed")
		require.True(t, bytes.Equal(down, client), "answers are changed")

		for name, action := range map[string]Action{"drop": Drop(), "lose": Lose(), "delay": Delay(0)} {
			for _, answers := range []bool{false, true} {
				match := Match{Key: int16(key), Responses: answers}
				whole, pieces := New(), New()
				a, b := whole.Add(match, action), pieces.Add(match, action)
				wholeUp, wholeDown := through(t, whole, up, down, nil)
				piecesUp, piecesDown := through(t, pieces, up, down, sizes)
				require.True(t, bytes.Equal(wholeUp, piecesUp), "%s: requests depend on their pieces", name)
				require.True(t, bytes.Equal(wholeDown, piecesDown), "%s: answers depend on their pieces", name)
				require.Equal(t, a.Acted(), b.Acted(), name)
				if a.Acted() == 0 || name == "delay" {
					require.True(t, bytes.Equal(up, wholeUp), "%s: it took nothing, and requests are changed", name)
					require.True(t, bytes.Equal(down, wholeDown), "%s: it took nothing, and answers are changed", name)
				}
			}
		}
	})
}
