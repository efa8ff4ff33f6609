package testenv

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/link/kafkawire"
)

// nowhere is a connection for frames that nobody reads.
type nowhere struct{}

func (nowhere) Done() <-chan struct{} { return nil }
func (nowhere) Reset()                {}
func (nowhere) Touched()              {}

// ask sends a Metadata request without a body through the rules, and returns what passed.
func ask(k *Kafka) []byte {
	var passed []byte
	up, _ := k.wire.Inspect(nowhere{}, func(b []byte) { passed = append(passed, b...) }, func([]byte) {})
	up.Pass([]byte{0, 0, 0, 8, 0, 3, 0, 0, 0, 0, 0, 1})
	up.End()
	return passed
}

func TestFrameFaultsBiteOnceTheyHaveActedAndHeal(t *testing.T) {
	const metadata = 3
	k := &Kafka{wire: kafkawire.New()}
	f := k.Drop(KafkaFrames{Key: metadata, Nth: 2})
	require.NoError(t, f.Heal(t.Context()), "also before it was applied")
	require.NoError(t, f.Apply(t.Context()))
	require.NotEmpty(t, ask(k))
	require.EqualError(t, f.Bites(t.Context()), "1 of these frames were seen, and none was dropped")
	require.Empty(t, ask(k))
	require.NoError(t, f.Bites(t.Context()))
	require.NotEmpty(t, ask(k))
	require.NoError(t, f.Heal(t.Context()))
	require.Equal(t, 3, k.Requests(metadata))
	require.Zero(t, k.Requests(0))

	every := k.Delay(KafkaFrames{Key: metadata}, time.Millisecond)
	require.NoError(t, every.Apply(t.Context()))
	require.NotEmpty(t, ask(k))
	require.NoError(t, every.Bites(t.Context()))
}

func TestFrameFaultsSayWhatTheyDo(t *testing.T) {
	k := &Kafka{wire: kafkawire.New()}
	for want, f := range map[string]Fault{
		"Produce requests are held":               k.Hold(KafkaFrames{}),
		"answers to Metadata are delayed by 1s":   k.Delay(KafkaFrames{Key: 3, Answers: true}, time.Second),
		"Metadata request 2 is dropped":           k.Drop(KafkaFrames{Key: 3, Nth: 2}),
		"answer 1 to EndTxn is lost":              k.Lose(KafkaFrames{Key: 26, Answers: true, Nth: 1}),
		"answers to AddPartitionsToTxn are held":  k.Hold(KafkaFrames{Key: 24, Answers: true}),
		"OffsetCommit request 7 is delayed by 5s": k.Delay(KafkaFrames{Key: 8, Nth: 7}, 5*time.Second),
	} {
		require.Equal(t, want, f.Name)
	}
}

func TestFrameFaultsRefuseNegativeNumbers(t *testing.T) {
	k := &Kafka{wire: kafkawire.New()}
	for _, frames := range []KafkaFrames{{Key: -1}, {Nth: -1}} {
		require.ErrorContains(t, k.Hold(frames).Apply(t.Context()), "neither can be negative")
	}
}

func TestThenStartsOnceApplied(t *testing.T) {
	var order []string
	note := func(what string, err error) func(context.Context) error {
		return func(context.Context) error {
			order = append(order, what)
			return err
		}
	}
	f := Fault{Apply: note("applied", nil)}.Then(note("started", nil)).Then(note("started again", nil))
	require.NoError(t, f.Apply(t.Context()))
	require.Equal(t, []string{"applied", "started", "started again"}, order)

	order = nil
	broken := errors.New("broken")
	require.ErrorIs(t, Fault{Apply: note("applied", broken)}.Then(note("started", nil)).Apply(t.Context()), broken)
	require.Equal(t, []string{"applied"}, order)
	require.Nil(t, Fault{}.Then(note("started", nil)).Apply, "a fault that cannot be applied stays one")
}
