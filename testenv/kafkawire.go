package testenv

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The kinds of coordinators (KIP-98).
const (
	kafkaGroupCoordinator       = 0
	kafkaTransactionCoordinator = 1
)

// maxAnswer is far above what a small cluster has to say.
const maxAnswer = 16 << 20

// kafkaHandshake asks for metadata, which every version of every broker answers.
func kafkaHandshake(conn net.Conn) error {
	_, err := kafkaExchange(conn, kmsg.NewPtrMetadataRequest())
	return err
}

// kafkaMetadata asks for all topics, in the request's first version.
func kafkaMetadata(ctx context.Context, address string) (*kmsg.MetadataResponse, error) {
	answer, err := kafkaRoundTrip(ctx, address, kmsg.NewPtrMetadataRequest())
	if err != nil {
		return nil, err
	}
	return answer.(*kmsg.MetadataResponse), nil
}

// kafkaCoordinator wants a coordinator for a key that nobody uses.
func kafkaCoordinator(ctx context.Context, address string, kind int8) error {
	r := kmsg.NewPtrFindCoordinatorRequest()
	r.CoordinatorKey, r.CoordinatorType = "brokerfault-is-it-ready", kind
	if kind != kafkaGroupCoordinator {
		r.SetVersion(1)
	}
	answer, err := kafkaRoundTrip(ctx, address, r)
	if err != nil {
		return err
	}
	if code := answer.(*kmsg.FindCoordinatorResponse).ErrorCode; code != 0 {
		return fmt.Errorf("answered with error code %d", code)
	}
	return nil
}

// kafkaRoundTrip sends one request of a version that has no flexible header, on a
// connection of its own, and reads the answer.
func kafkaRoundTrip(ctx context.Context, address string, r kmsg.Request) (kmsg.Response, error) {
	conn, err := dialBounded(ctx, address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return kafkaExchange(conn, r)
}

func kafkaExchange(conn net.Conn, r kmsg.Request) (kmsg.Response, error) {
	const correlation = 1
	request := kmsg.NewRequestFormatter(kmsg.FormatterClientID("brokerfault")).AppendRequest(nil, r, correlation)
	if _, err := conn.Write(request); err != nil {
		return nil, fmt.Errorf("send %s: %w", kmsg.NameForKey(r.Key()), err)
	}
	head := make([]byte, 8) // size, correlation
	if _, err := io.ReadFull(conn, head); err != nil {
		return nil, fmt.Errorf("await the answer to %s: %w", kmsg.NameForKey(r.Key()), err)
	}
	size := binary.BigEndian.Uint32(head)
	if size < 4 || size > maxAnswer || binary.BigEndian.Uint32(head[4:]) != correlation {
		return nil, fmt.Errorf("the answer to %s is none", kmsg.NameForKey(r.Key()))
	}
	body := make([]byte, size-4)
	if _, err := io.ReadFull(conn, body); err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", kmsg.NameForKey(r.Key()), err)
	}
	answer := r.ResponseKind()
	if err := answer.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", kmsg.NameForKey(r.Key()), err)
	}
	return answer, nil
}
