package kafkametadata

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv"
)

var delayedMetadata = testenv.Case{
	Name:   "kafkametadata/metadata-delayed",
	Claim:  "while metadata answers come late, known topics never pause and a new one takes its first record that much later, not more",
	Client: underTest,
	Shares: true,
}

var droppedMetadata = testenv.Case{
	Name:   "kafkametadata/metadata-dropped",
	Claim:  "while metadata answers are swallowed, known topics never pause, and after that a new one takes its first record within the client's own timeout",
	Client: underTest,
	Shares: true,
}

var bootstrapCut = testenv.Case{
	Name:   "kafkametadata/bootstrap-cut",
	Claim:  "a client whose only bootstrap broker is cut off, from its start or later, sends soon after the broker is reachable",
	Client: underTest,
	Shares: true,
}

// metadataAnswers are all of them.
var metadataAnswers = testenv.KafkaFrames{Key: kmsg.Metadata.Int16(), Answers: true}

// timeout is the client's for an answer, on top of what a request itself may take; 10 s
// by default.
func timeout(env *testenv.Env) time.Duration { return env.ByProfile(2*time.Second, 10*time.Second) }

func TestLateMetadataDelaysNewTopicsOnly(t *testing.T) {
	const late = time.Second
	env := testenv.New(t, delayedMetadata)
	kafka, orders, invoices := withTwoTopics(t, env, testenv.KafkaSpec{})
	receipts := env.Unique("receipts")
	require.NoError(t, kafka.CreateTopic(env.Context(), receipts, 1))
	c := underTestIn(t, env, kafka)
	streams := startStreams(env, c, orders)
	first := newFlush(invoices)
	delayed := env.Inject(kafka.Delay(metadataAnswers, late).Then(func(context.Context) error {
		first.start(env.Context(), c)
		return nil
	}))
	env.Within("the first record to a new topic is taken, though late", late+2*time.Second, first.ends(taken))
	env.Within("it was not taken before the answer came", time.Second, testenv.AtOnce(first.tookAtLeast(late)))
	neverPaused(env, streams)
	delayed.Heal()
	env.Recovers("the first record to another topic is taken", 3*time.Second, c.sends(receipts))
	neverPaused(env, streams)
	readBack(env, kafka, streams...)
}

func TestClientResumesAfterItsMetadataAnswersWereSwallowed(t *testing.T) {
	env := testenv.New(t, droppedMetadata)
	kafka, orders, invoices := withTwoTopics(t, env, testenv.KafkaSpec{})
	c := underTestIn(t, env, kafka, kgo.RequestTimeoutOverhead(timeout(env)))
	streams := startStreams(env, c, orders)
	first := newFlush(invoices)
	dropped := env.Inject(kafka.Drop(metadataAnswers).Then(func(context.Context) error {
		first.start(env.Context(), c)
		return nil
	}))
	env.Holds("the first record to a new topic is not taken meanwhile", timeout(env)+time.Second, first.isOpen())
	dropped.Heal()
	// A request may have been sent just before, and the client's pauses grow to 5 s.
	env.Recovers("the first record to a new topic is taken", timeout(env)+10*time.Second, first.ends(taken))
	neverPaused(env, streams)
	readBack(env, kafka, streams...)
}

func TestClientResumesAfterItsOnlyBootstrapBrokerWasCutOff(t *testing.T) {
	env := testenv.New(t, bootstrapCut)
	kafka, orders, invoices := withTwoTopics(t, env, testenv.KafkaSpec{})
	c := underTestIn(t, env, kafka)
	streams := startStreams(env, c, orders)
	cut := env.Inject(kafka.Cut())
	late, err := newClient(env, kafka, "late")
	require.NoError(t, err)
	env.Closes("the client that starts while the broker is cut off", late.Close)
	first := newFlush(invoices)
	first.start(env.Context(), late)
	env.Holds("nothing is taken meanwhile", 3*time.Second, first.isOpen())
	cut.Heal()
	streams[0].restarts()
	env.Recovers("the first record of the client that started meanwhile is taken", 15*time.Second, first.ends(taken))
	env.Recovers("the stream flows again", 15*time.Second, streams[0].goesOn())
	readBack(env, kafka, streams...)
}

// taken wants success.
func taken(_ string, err error) error { return err }
