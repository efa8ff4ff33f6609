package kafkatxn

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/brokerfault/brokerfault/testenv"
)

const (
	// hangingID is the transactional ID of the batch outside of a transaction.
	hangingID = "hanging"
	// lastVersionBeforeTV2 is the Produce version up to which a client has to add
	// partitions itself (KIP-890, part 2).
	lastVersionBeforeTV2 = 11
	// newest lets client and broker agree on the Produce version.
	newest = 0
)

// transactionAbortable is the code of KIP-890's refusal, which kerr does not know before v1.18.0.
const transactionAbortable = 120

var errTransactionAbortable = errors.New("TRANSACTION_ABORTABLE")

// outside is a transactional batch that is sent without AddPartitionsToTxn.
type outside struct {
	*scene
	raw      *kgo.Client
	producer kmsg.InitProducerIDResponse
	// answer is the broker's to the batch.
	answer error
}

// outsideTransaction makes the raw client; version is the highest Produce version that it speaks.
func (s *scene) outsideTransaction(version int16) *outside {
	var options []kgo.Opt
	if version != newest {
		v := kversion.Tip()
		v.SetMaxKeyVersion(kmsg.Produce.Int16(), version)
		options = append(options, kgo.MaxVersions(v))
	}
	return &outside{scene: s, raw: s.client("raw", options...)}
}

// send sends the batch, and a record outside of any transaction behind it.
func (o *outside) send(ctx context.Context) error {
	init := kmsg.NewPtrInitProducerIDRequest()
	init.TransactionalID = kmsg.StringPtr(o.id(hangingID))
	init.TransactionTimeoutMillis = int32(transactionTimeout.Milliseconds())
	producer, err := init.RequestWith(ctx, o.raw)
	if err == nil {
		err = kerr.ErrorForCode(producer.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("init a producer id: %w", err)
	}
	o.producer = *producer
	answer, err := o.produce(ctx, "hung")
	if err != nil {
		return err
	}
	o.answer = answer
	o.env.Note("the broker's answer to the batch outside of a transaction: %v", answer)
	return produces(o.plain, "after")(ctx)
}

// produce gives the broker's answer to the batch, and an error if there was none.
func (o *outside) produce(ctx context.Context, value string) (answer, err error) {
	topics, err := o.admin.ListTopics(ctx, o.orders)
	if err != nil {
		return nil, fmt.Errorf("list the topic: %w", err)
	}
	topic := topics[o.orders]
	p := kmsg.NewProduceRequestTopicPartition()
	p.Records = batch(o.producer.ProducerID, o.producer.ProducerEpoch, value)
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.TopicID = o.orders, topic.ID
	t.Partitions = append(t.Partitions, p)
	r := kmsg.NewPtrProduceRequest()
	r.TransactionID, r.Acks, r.TimeoutMillis = kmsg.StringPtr(o.id(hangingID)), -1, 5000
	r.Topics = append(r.Topics, t)
	response, err := o.raw.Broker(int(topic.Partitions[0].Leader)).Request(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("produce outside of a transaction: %w", err)
	}
	of := response.(*kmsg.ProduceResponse)
	if len(of.Topics) != 1 || len(of.Topics[0].Partitions) != 1 {
		return nil, errors.New("produce outside of a transaction: the answer names no partition")
	}
	code := of.Topics[0].Partitions[0].ErrorCode
	if code == transactionAbortable {
		return errTransactionAbortable, nil
	}
	return kerr.ErrorForCode(code), nil
}

// hangs is the proof of the incident: the last stable offset is frozen, the
// partition's leader knows an open transaction of this producer, and the coordinator
// knows none.
func (o *outside) hangs(ctx context.Context) error {
	if o.answer != nil {
		return testenv.Stop(fmt.Errorf("the broker refused the batch: %w", o.answer))
	}
	if err := o.frozen(ctx); err != nil {
		return err
	}
	open, err := o.open(ctx)
	if err != nil {
		return err
	}
	if len(open) != 1 || open[0].ProducerID != o.producer.ProducerID {
		return fmt.Errorf("the leader knows these open transactions, not that of producer %d: %v", o.producer.ProducerID, open)
	}
	return o.inState(hangingID, "Empty")(ctx)
}

// abortMarkers is the operator's remedy (KIP-664): an abort marker for what the leader
// knows as open.
func (s *scene) abortMarkers(ctx context.Context) error {
	open, err := s.open(ctx)
	if err != nil {
		return err
	}
	for _, p := range open {
		m := kadm.TxnMarkers{ProducerID: p.ProducerID, ProducerEpoch: p.ProducerEpoch, CoordinatorEpoch: p.CoordinatorEpoch}
		m.Topics.Add(p.Topic, p.Partition)
		answers, err := s.admin.WriteTxnMarkers(ctx, m)
		if err != nil {
			return fmt.Errorf("write an abort marker: %w", err)
		}
		for _, a := range answers.SortedPartitions() {
			if a.Err != nil {
				return fmt.Errorf("write an abort marker: %w", a.Err)
			}
		}
	}
	return nil
}

// batch is one record in a transactional record batch (KIP-98).
func batch(producer int64, epoch int16, value string) []byte {
	const transactionalBit, lengthFrom, crcFrom = 1 << 4, 12, 21
	r := kmsg.Record{Value: []byte(value)}
	r.Length = int32(len(r.AppendTo(nil)) - 1) // less its own byte
	now := time.Now().UnixMilli()
	b := kmsg.RecordBatch{
		Magic: 2, Attributes: transactionalBit, FirstTimestamp: now, MaxTimestamp: now,
		ProducerID: producer, ProducerEpoch: epoch, NumRecords: 1, Records: r.AppendTo(nil),
	}
	raw := b.AppendTo(nil)
	b.Length = int32(len(raw) - lengthFrom)
	b.CRC = int32(crc32.Checksum(raw[crcFrom:], crc32.MakeTable(crc32.Castagnoli)))
	return b.AppendTo(nil)
}

// refused says that the broker has answered the batch with an error.
func (o *outside) refused() bool { return o.answer != nil }

// answeredOrOpen is the proof on a broker that may refuse the batch: it has answered,
// and if it took the batch, there is an open transaction or was one that is over.
func (o *outside) answeredOrOpen(ctx context.Context) error {
	if o.refused() {
		return nil
	}
	state, err := o.state(ctx, hangingID)
	if err != nil {
		return err
	}
	o.env.Note("the coordinator calls the transaction %s", state)
	end, _, err := o.offsets(ctx)
	if err != nil {
		return err
	}
	if end < 3 {
		return fmt.Errorf("the batch was neither refused nor stored: the log ends at %d", end)
	}
	return nil
}
