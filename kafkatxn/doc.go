// Package kafkatxn tests what becomes of Kafka transactions, and of those who read
// past them, when a producer, a batch, an answer or a broker goes missing.
//
// # The incident
//
// A transactional batch that reaches a partition outside of its transaction, because the
// partition was never added or the transaction has ended meanwhile, opens a
// transaction that the coordinator does not know. On brokers without transaction
// verification (before 3.6, KIP-890) nothing ever ends it: the last stable offset (LSO)
// stays where it is, every read_committed consumer of the partition starves, and no
// transaction timeout frees it. The operator finds it by comparing what the
// partition's leader calls open (DescribeProducers) with what the coordinator says
// (ListTransactions, DescribeTransactions), and ends it with an abort marker
// (WriteTxnMarkers; KIP-664).
//
// # What was seen
//
//   - 3.5.1 takes the batch and hangs; 3.9.2 does with
//     transaction.partition.verification.enable=false. After the marker a read_committed
//     consumer reads on at once.
//   - 3.9.2 refuses it with TRANSACTION_ABORTABLE, and so does 4.4.0 for Produce
//     versions up to 11. From version 12 on 4.4.0 adds the partition itself (TV2), so the
//     transaction's timeout ends it.
//   - By accident it happens with a client that throws away a record in flight and aborts
//     with the same epoch: in franz-go that is UnsafeAbortBufferedRecords followed by
//     EndTransaction. The batch that arrives afterwards hangs on 3.5.1 and is refused
//     on 3.9.2 and 4.4.0.
//   - It does not happen where the coordinator aborts a silent producer: that abort raises
//     the epoch, so the late batch is fenced, on 3.5.1 as well.
//
// # What the client does not do
//
// franz-go v1.22.3 returns from a commit with a network error if its coordinator is gone,
// and its documentation has the caller abort with the same client. On brokers without
// TV2 (3.5.1, 3.9.2) that abort ends in PRODUCER_FENCED, which is final for this client: it
// reloads its producer ID with the old epoch, which the coordinator's own abort has just
// raised. Nothing is lost or doubled; a client rebuilt with the same transactional ID goes
// on. A transaction timed out by the broker ends a client in the same way (on 4.4.0 with
// INVALID_TXN_STATE).
//
// A coordinator that takes a commit and is killed before its answer leaves a client that
// gives up dialing, after 2.7 s, with an error, and the abort that the documentation asks for
// then returns none, though the records are committed: whoever takes the abort at its word
// and repeats them has them twice. What is left is to look at what a read_committed consumer
// has, or to make the repetition idempotent.
//
// A coordinator that hangs, and is not gone, holds a commit of v1.22.3 for all of the
// client's RetryTimeout, 30 s by default, though a broker took over after 4 to 10 s: the
// client forgets a coordinator when a dial fails or an answer says so, not when a request
// times out. The remedy is a RetryTimeout a little above the broker's session timeout.
//
// The same holds for a group: a member that joins while the coordinator hangs is let in
// after 46.4 s, its session timeout of 45 s and a second, whoever has taken over meanwhile.
// Close waits as long, also after LeaveGroupContext with a context that has ended, which by
// the client's documentation makes it return at once. What shortens both is a SessionTimeout
// and a RebalanceTimeout a little above the broker's session timeout.
//
// # Limits
//
// The tests that name no version run on that of BROKERFAULT_KAFKA and need 3.0 or newer
// for DescribeProducers and DescribeTransactions (KIP-664). The brokers look for
// transactions over their timeout every second instead of every ten.
package kafkatxn
