package kafkawire

import "encoding/binary"

const (
	sizeBytes     = 4
	requestBytes  = sizeBytes + 2 + 2 + 4 // key, version, correlation ID
	responseBytes = sizeBytes + 4         // correlation ID
	// mostBytes is more than brokers take or send (socket.request.max.bytes is 100 MB),
	// and less than what TLS or a text protocol begin with.
	mostBytes = 1 << 28
	// mostVersion is well above what there is of any API.
	mostVersion = 100
)

func headerBytes(response bool) int {
	if response {
		return responseBytes
	}
	return requestBytes
}

// header is the beginning of a frame.
type header struct {
	size int // without the size itself
	key  int16
	id   int32
}

// plausible says whether these first bytes, one at least, can be those of a frame.
// As many as are there are judged, so that nothing foreign is kept waiting for more.
func plausible(b []byte, response bool) bool {
	if b[0] >= mostBytes>>24 {
		return false
	}
	if len(b) < sizeBytes {
		return true
	}
	if int(binary.BigEndian.Uint32(b)) < headerBytes(response)-sizeBytes {
		return false
	}
	if response {
		return true
	}
	// Keys are below 256 and versions below 100, of two bytes each.
	if len(b) > 4 && b[4] != 0 {
		return false
	}
	if len(b) > 6 && b[6] != 0 {
		return false
	}
	return len(b) < 8 || b[7] < mostVersion
}

// parse reads a header that is whole.
func parse(b []byte, response bool) header {
	h := header{size: int(binary.BigEndian.Uint32(b))}
	if response {
		h.id = int32(binary.BigEndian.Uint32(b[4:]))
		return h
	}
	h.key = int16(binary.BigEndian.Uint16(b[4:]))
	h.id = int32(binary.BigEndian.Uint32(b[8:]))
	return h
}
