package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// http2Preface is what an HTTP/2 client says first: the magic of RFC 9113, 3.4,
// and an empty SETTINGS frame.
const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// http2Settings is the type of a SETTINGS frame.
const http2Settings = 4

// http2Handshake connects as a gRPC client does that uses no TLS.
func http2Handshake(ctx context.Context, address string) error {
	conn, err := dialBounded(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, http2Preface); err != nil {
		return fmt.Errorf("send the preface of HTTP/2: %w", err)
	}
	head := make([]byte, 9) // length (3 bytes), type, flags, stream
	if _, err := io.ReadFull(conn, head); err != nil {
		return fmt.Errorf("await the server's preface: %w", err)
	}
	if head[3] != http2Settings {
		return errors.New("the server's preface is no SETTINGS frame")
	}
	return nil
}
