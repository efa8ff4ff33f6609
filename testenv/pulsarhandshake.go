package testenv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// pulsarConnect is a CONNECT command of Pulsar's binary protocol
// (PulsarApi.proto): type 2, then the command in field 2 with the client's
// version in field 1 and protocol version 12 in field 4.
var pulsarConnect = []byte{0x08, 2, 0x12, 15, 0x0a, 11, 'b', 'r', 'o', 'k', 'e', 'r', 'f', 'a', 'u', 'l', 't', 0x20, 12}

// pulsarConnected is the type of the answer.
const pulsarConnected = 3

// pulsarHandshake connects as a client does.
func pulsarHandshake(conn net.Conn) error {
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(pulsarConnect)+4))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(pulsarConnect)))
	if _, err := conn.Write(append(frame, pulsarConnect...)); err != nil {
		return fmt.Errorf("send CONNECT: %w", err)
	}
	head := make([]byte, 10) // two lengths, then field 1 of the command: its type
	if _, err := io.ReadFull(conn, head); err != nil {
		return fmt.Errorf("await the answer to CONNECT: %w", err)
	}
	if head[8] != 0x08 || head[9] != pulsarConnected {
		return errors.New("the answer to CONNECT is not CONNECTED")
	}
	return nil
}
