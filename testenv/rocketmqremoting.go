package testenv

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
)

// remotingCommand is a request or an answer of RocketMQ's remoting protocol: a
// header in JSON, and a body. A frame is the length of what follows, the length
// of the header with the serialization (0 is JSON) in its first byte, the
// header, the body (RemotingCommand.java).
type remotingCommand struct {
	// Code is what is asked; in an answer zero is success.
	Code     int               `json:"code"`
	Language string            `json:"language"`
	Version  int               `json:"version"`
	Opaque   int32             `json:"opaque"`
	Flag     int               `json:"flag"`
	Remark   string            `json:"remark,omitempty"`
	Fields   map[string]string `json:"extFields,omitempty"`
	Body     []byte            `json:"-"`
}

// maxFrame is the broker's own limit.
const maxFrame = 16 << 20

// remotingHandshake asks for something that a server of either kind refuses in
// no time.
func remotingHandshake(conn net.Conn) error {
	_, err := remotingExchange(conn, remotingCommand{Code: unknownRequest})
	return err
}

// unknownRequest is a request code that nobody has.
const unknownRequest = 65000

// remotingCall returns the answer to a request; one that is no success is an
// error with the server's words.
func remotingCall(ctx context.Context, address string, command remotingCommand) (remotingCommand, error) {
	conn, err := dialBounded(ctx, address)
	if err != nil {
		return remotingCommand{}, err
	}
	defer conn.Close()
	answer, err := remotingExchange(conn, command)
	if err != nil {
		return remotingCommand{}, err
	}
	if answer.Code != 0 {
		return remotingCommand{}, fmt.Errorf("request %d is refused with code %d: %s", command.Code, answer.Code, answer.Remark)
	}
	return answer, nil
}

// remotingExchange sends one request and reads the answer.
func remotingExchange(conn net.Conn, command remotingCommand) (remotingCommand, error) {
	frame, err := command.frame()
	if err != nil {
		return remotingCommand{}, err
	}
	if _, err := conn.Write(frame); err != nil {
		return remotingCommand{}, fmt.Errorf("send request %d: %w", command.Code, err)
	}
	answer, err := readRemoting(conn)
	if err != nil {
		return remotingCommand{}, fmt.Errorf("await the answer to request %d: %w", command.Code, err)
	}
	return answer, nil
}

func (c remotingCommand) frame() ([]byte, error) {
	c.Language, c.Opaque = "GO", 1
	header, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode request %d: %w", c.Code, err)
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)+len(c.Body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(header)))
	return append(append(frame, header...), c.Body...), nil
}

func readRemoting(r io.Reader) (remotingCommand, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return remotingCommand{}, err
	}
	size, header := binary.BigEndian.Uint32(head[:4]), binary.BigEndian.Uint32(head[4:])
	if serialization := header >> 24; serialization != 0 {
		return remotingCommand{}, fmt.Errorf("its header is not JSON but of kind %d", serialization)
	}
	if size < 4 || size > maxFrame || header > size-4 {
		return remotingCommand{}, fmt.Errorf("its lengths do not fit: %d bytes with a header of %d", size, header)
	}
	rest := make([]byte, size-4)
	if _, err := io.ReadFull(r, rest); err != nil {
		return remotingCommand{}, err
	}
	var c remotingCommand
	if err := json.Unmarshal(rest[:header], &c); err != nil {
		return remotingCommand{}, fmt.Errorf("decode its header: %w", err)
	}
	c.Body = rest[header:]
	return c, nil
}
