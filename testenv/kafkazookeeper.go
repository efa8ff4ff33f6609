package testenv

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
)

// registerTopic makes a topic the way brokers before 0.10.1 have it made: by its entry
// in ZooKeeper, which the controller watches.
func (k *Kafka) registerTopic(ctx context.Context, topic string, partitions, replicas int) error {
	assigned := map[string][]int{}
	for p := range partitions {
		for r := range replicas {
			number := strconv.Itoa(p)
			assigned[number] = append(assigned[number], 1+(p+r)%k.brokers)
		}
	}
	data, err := json.Marshal(map[string]any{"version": 1, "partitions": assigned})
	if err != nil {
		return fmt.Errorf("describe its partitions: %w", err)
	}
	address, err := k.address(broker.KafkaZooKeeper, broker.KafkaZooKeeper)
	if err != nil {
		return err
	}
	return zooKeeperCreate(ctx, address, "/brokers/topics/"+topic, data)
}

// zooKeeperCreate makes a node that everybody may change, in a session of its own.
func zooKeeperCreate(ctx context.Context, address, path string, data []byte) error {
	conn, err := dialBounded(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Protocol version, last transaction seen, session timeout in ms, no session yet, no password.
	session := binary.BigEndian.AppendUint32(nil, 0)
	session = binary.BigEndian.AppendUint64(session, 0)
	session = binary.BigEndian.AppendUint32(session, uint32(wireLimit.Milliseconds()))
	session = binary.BigEndian.AppendUint64(session, 0)
	session = appendSized(session, make([]byte, 16))
	if _, err := zooKeeperRoundTrip(conn, session); err != nil {
		return fmt.Errorf("begin a session with zookeeper: %w", err)
	}
	const (
		number     = 1
		opCreate   = 1
		allRights  = 31
		persistent = 0
	)
	create := binary.BigEndian.AppendUint32(nil, number)
	create = binary.BigEndian.AppendUint32(create, opCreate)
	create = appendSized(create, []byte(path))
	create = appendSized(create, data)
	create = binary.BigEndian.AppendUint32(create, 1) // rules of access
	create = binary.BigEndian.AppendUint32(create, allRights)
	create = appendSized(create, []byte("world"))
	create = appendSized(create, []byte("anyone"))
	create = binary.BigEndian.AppendUint32(create, persistent)
	answer, err := zooKeeperRoundTrip(conn, create)
	if err != nil {
		return fmt.Errorf("create %q in zookeeper: %w", path, err)
	}
	// The request's number, the transaction, and an error code.
	if len(answer) < 16 {
		return fmt.Errorf("create %q in zookeeper: the answer has %d bytes", path, len(answer))
	}
	if code := int32(binary.BigEndian.Uint32(answer[12:])); code != 0 {
		return fmt.Errorf("create %q in zookeeper: error %d", path, code)
	}
	return nil
}

// zooKeeperRoundTrip sends one frame and returns the next.
func zooKeeperRoundTrip(conn io.ReadWriter, request []byte) ([]byte, error) {
	if _, err := conn.Write(appendSized(nil, request)); err != nil {
		return nil, err
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(conn, head); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head)
	if size > maxAnswer {
		return nil, fmt.Errorf("an answer of %d bytes is none", size)
	}
	answer := make([]byte, size)
	_, err := io.ReadFull(conn, answer)
	return answer, err
}

func appendSized(b, data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(data))), data...)
}

// unregistered waits until ZooKeeper runs and has forgotten the broker's former
// life: one that finds its ID taken ends at once.
func (b *Broker) unregistered(id string) Probe {
	return func(ctx context.Context) error {
		address, err := b.address(broker.KafkaZooKeeper, broker.KafkaZooKeeper)
		if err != nil {
			return err
		}
		dump, err := zooKeeperDump(ctx, address)
		if err != nil {
			return err
		}
		for line := range strings.Lines(dump) {
			if strings.TrimSpace(line) == "/brokers/ids/"+id {
				return fmt.Errorf("broker %s is still registered in zookeeper", id)
			}
		}
		return nil
	}
}

// zooKeeperDump is what the four letters dump answer: sessions, and the nodes that
// end with them.
func zooKeeperDump(ctx context.Context, address string) (string, error) {
	conn, err := dialBounded(ctx, address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "dump"); err != nil {
		return "", fmt.Errorf("ask zookeeper for a dump: %w", err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		return "", fmt.Errorf("read zookeeper's dump: %w", err)
	}
	// One that has just started says that it does not serve yet.
	if !strings.Contains(string(text), "Sessions with Ephemerals") {
		return "", fmt.Errorf("zookeeper does not tell its sessions: %q", text)
	}
	return string(text), nil
}
