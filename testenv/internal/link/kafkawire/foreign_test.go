package kafkawire

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// openings are what other protocols begin with.
var openings = map[string][]byte{
	"tls":            {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 9, 9, 9, 9, 9},
	"http":           []byte("GET / HTTP/1.1\r\n\r\n"),
	"a single byte":  {0xff},
	"a short line":   []byte("hi\n"),
	"size too small": {0, 0, 0, 1, 7, 0, 0, 0, 0},
	"size negative":  {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0},
	"key too large":  {0, 0, 0, 20, 1, 0, 0, 0, 0, 0, 0, 0},
	"old version":    {0, 0, 0, 20, 0, 3, 0xff, 0xff, 0, 0, 0, 0},
}

func TestWhatIsNotKafkaPassesAtOnceInBothDirections(t *testing.T) {
	for name, opening := range openings {
		t.Run(name, func(t *testing.T) {
			r := New()
			for key := range int16(keys) {
				r.Add(Match{Key: key}, Drop())
				r.Add(Match{Key: key, Responses: true}, Drop())
			}
			w := newWire(t, r)
			w.up.Pass(opening)
			require.Equal(t, opening, w.server(), "nothing is kept for more to come")
			w.down.Pass([]byte{0, 0})
			require.Equal(t, []byte{0, 0}, w.client())
			more := make([]byte, 100_000)
			_, _ = rand.Read(more)
			inPieces(more, 5000, w.up.Pass)
			inPieces(more, 5000, w.down.Pass)
			w.up.Pass(request(metadata, 1, 0))
			require.True(t, bytes.Equal(slices.Concat(opening, more, request(metadata, 1, 0)), w.server()))
			require.True(t, bytes.Equal(slices.Concat([]byte{0, 0}, more), w.client()))
			require.Zero(t, r.Requests(metadata))
		})
	}
}

func TestGarbageAfterFramesPassesBehindWhatIsHeld(t *testing.T) {
	r := New()
	held := r.Add(Match{Key: produce}, Hold())
	w := newWire(t, r)
	garbage := []byte("\xff\xfegarbage")
	w.up.Pass(slices.Concat(request(produce, 1, 3), garbage))
	require.Empty(t, w.server())
	held.Remove()
	becomes(t, slices.Concat(request(produce, 1, 3), garbage), w.server)
}

func TestAnswerToNothingPasses(t *testing.T) {
	r := New()
	r.Add(Match{Key: produce, Responses: true}, Drop())
	w := newWire(t, r)
	w.down.Pass(response(77, 10))
	w.up.Pass(request(produce, 1, 0))
	w.down.Pass(response(1, 10))
	require.Equal(t, response(77, 10), w.client())
}

func TestEndHandsOnAnIncompleteHeader(t *testing.T) {
	w := newWire(t, New())
	part := request(metadata, 1, 0)[:9]
	w.up.Pass(part)
	require.Empty(t, w.server())
	w.up.End()
	require.Equal(t, part, w.server())
}

// FuzzPass: whatever comes, in whatever pieces, goes on unchanged when no rule is for
// it, and with one dropped exactly the frames it is for are missing.
func FuzzPass(f *testing.F) {
	for _, opening := range openings {
		f.Add(opening, uint8(1))
	}
	f.Add(slices.Concat(request(produce, 1, 5), request(metadata, 2, 9)), uint8(3))
	f.Add(slices.Concat(request(metadata, 1, 0), []byte("garbage")), uint8(200))
	f.Fuzz(func(t *testing.T, data []byte, most uint8) {
		plain := newWire(t, New())
		inPieces(data, 1+int(most), plain.up.Pass)
		inPieces(data, 1+int(most), plain.down.Pass)
		plain.up.End()
		plain.down.End()
		require.True(t, bytes.Equal(data, plain.server()))
		require.True(t, bytes.Equal(data, plain.client()))

		r := New()
		r.Add(Match{Key: metadata}, Drop())
		w := newWire(t, r)
		inPieces(data, 1+int(most), w.up.Pass)
		w.up.End()
		require.True(t, bytes.Equal(without(data, metadata), w.server()))
	})
}

// without is the slow and simple way to drop frames.
func without(data []byte, key uint16) []byte {
	var left []byte
	for len(data) >= requestBytes {
		size := binary.BigEndian.Uint32(data)
		theirs := binary.BigEndian.Uint16(data[4:])
		version := binary.BigEndian.Uint16(data[6:])
		if size < 8 || size >= mostBytes || theirs >= keys || version >= mostVersion {
			break
		}
		n := min(sizeBytes+int(size), len(data))
		if theirs != key {
			left = append(left, data[:n]...)
		}
		data = data[n:]
	}
	return append(left, data...)
}
