package kafkatxn

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

const kip890 = "https://cwiki.apache.org/confluence/display/KAFKA/KIP-890%3A+Transactions+Server-Side+Defense"

// hangLasts is how long the hang is watched: longer than any timeout that could end it.
const hangLasts = transactionTimeout + 3*time.Second

// hang is the incident from the batch to the remedy, on a broker that takes it.
func hang(t *testing.T, c testenv.Case, spec testenv.KafkaSpec) {
	env := testenv.New(t, c)
	s := newScene(t, env, spec)
	committed := s.reader("read_committed", kgo.ReadCommitted(), s.orders)
	uncommitted := s.reader("read_uncommitted", kgo.ReadUncommitted(), s.orders)
	o := s.outsideTransaction(newest)

	s.healthyPlain(committed)
	hanging := env.Inject(testenv.Fault{
		Name:  "a transaction hangs that the coordinator does not know",
		Apply: o.send,
		Bites: o.hangs,
		Heal:  s.abortMarkers,
	})
	env.Within("a read_uncommitted consumer reads on", 10*time.Second, uncommitted.hasRead("before", "hung", "after"))
	env.Holds("the read_committed consumer starves, past the transaction's timeout", hangLasts, committed.onlyRead("before"))
	env.Within("nothing has ended the transaction", 5*time.Second, o.hangs)
	hanging.Heal()
	env.Recovers("the read_committed consumer moves on after the abort marker", 10*time.Second, committed.hasRead("before", "after"))
	env.Within("nothing is open", 5*time.Second, s.stable)
}

func TestHangingTransactionStarvesReadCommittedUntilMarkerReproduces(t *testing.T) {
	t.Parallel()
	hang(t, testenv.Case{
		Name:      "kafkatxn/hanging-reproduces",
		Claim:     "on 3.5.1 a batch outside of a transaction hangs for good, and an abort marker frees its partition",
		Issue:     kip890,
		Client:    underTest,
		Shares:    true,
		KnownGood: []testenv.Combination{{Broker: "3.5.1"}},
	}, testenv.KafkaSpec{Version: "3.5.1"})
}

func TestHangingTransactionWithVerificationOffReproduces(t *testing.T) {
	t.Parallel()
	hang(t, testenv.Case{
		Name:      "kafkatxn/hanging-unverified-reproduces",
		Claim:     "with transaction.partition.verification.enable=false 3.9.2 hangs as 3.5.1 does",
		Issue:     kip890,
		Client:    underTest,
		Shares:    true,
		KnownGood: []testenv.Combination{{Broker: "3.9.2"}},
	}, testenv.KafkaSpec{Version: "3.9.2", Config: map[string]string{"transaction.partition.verification.enable": "false"}})
}

var hanging = testenv.Case{
	Name:   "kafkatxn/hanging",
	Claim:  "a batch outside of a transaction is refused, or ends with the transaction's timeout: it starves nobody for good",
	Issue:  kip890,
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Broker: "3.5.1", Evidence: "accepted; the last stable offset stays behind past the transaction's timeout and the abort interval"},
	},
	KnownGood: []testenv.Combination{{Broker: "3.9.2"}, {Broker: "4.4.0"}},
}

func TestBatchOutsideTransactionStarvesNobody(t *testing.T) {
	t.Parallel()
	for _, version := range testenv.KafkaVersions("4.4.0") {
		for name, produce := range map[string]int16{"newest Produce": newest, "Produce before TV2": lastVersionBeforeTV2} {
			t.Run(version+" "+name, func(t *testing.T) { starvesNobody(t, version, produce) })
		}
	}
}

func starvesNobody(t *testing.T, version string, produce int16) {
	env := testenv.New(t, hanging)
	s := newScene(t, env, testenv.KafkaSpec{Version: version})
	committed := s.reader("read_committed", kgo.ReadCommitted(), s.orders)
	o := s.outsideTransaction(produce)
	env.Witness("a fresh read_committed consumer reads all", s.freshReads("before", "after"))

	s.healthyPlain(committed)
	env.Inject(testenv.Fault{
		Name:  "a transactional batch is sent outside of a transaction",
		Apply: o.send,
		Bites: o.answeredOrOpen,
	})
	env.Recovers("the read_committed consumer moves on by itself", transactionTimeout+10*time.Second, committed.hasRead("before", "after"))
	env.Within("nothing is open", 5*time.Second, s.stable)
	if o.answer != nil {
		require.True(t, errors.Is(o.answer, errTransactionAbortable) || errors.Is(o.answer, kerr.InvalidTxnState), "refused with %v, neither TRANSACTION_ABORTABLE nor INVALID_TXN_STATE", o.answer)
	}
}
