package testenv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// http2Preface is what an HTTP/2 client says first: the magic of RFC 9113, 3.4,
// and an empty SETTINGS frame.
const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"

const (
	// http2Settings is the type of a SETTINGS frame, and http2Ack its flag in an answer.
	http2Settings = 4
	http2Ack      = 1
	// http2Frames is how many frames a server may send before it answers.
	http2Frames = 10
)

// http2Handshake connects as a gRPC client does that uses no TLS. A server may send its
// own preface before it has read anything, so the answer to the client's is awaited.
func http2Handshake(conn net.Conn) error {
	if _, err := io.WriteString(conn, http2Preface); err != nil {
		return fmt.Errorf("send the preface of HTTP/2: %w", err)
	}
	for n := range http2Frames {
		head := make([]byte, 9) // length (3 bytes), type, flags, stream
		if _, err := io.ReadFull(conn, head); err != nil {
			return fmt.Errorf("await the answer to the preface of HTTP/2: %w", err)
		}
		settings := head[3] == http2Settings
		if n == 0 && !settings {
			return errors.New("the server's preface is no SETTINGS frame")
		}
		if settings && head[4]&http2Ack != 0 {
			return nil
		}
		length := int64(binary.BigEndian.Uint32(head) >> 8)
		if _, err := io.CopyN(io.Discard, conn, length); err != nil {
			return fmt.Errorf("await the answer to the preface of HTTP/2: %w", err)
		}
	}
	return errors.New("the server does not answer the preface of HTTP/2")
}
