package kafkametadata

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv"
)

const (
	// promptly bounds the failure of a record to a bad name.
	promptly = 3 * time.Second
	// noPause bounds the time between two records of a stream beside it. A client that
	// waits for metadata pauses for 5 s, its MetadataMinAge.
	noPause = 2 * time.Second
)

// badNames are names that no topic can have, by what is wrong with them.
var badNames = []struct{ kind, name string }{
	{"with a space", "bad topic"},
	{"with parentheses", "bad(topic)"},
	{"that is not ASCII", "bad-topic-中"},
	{"of one dot", "."},
	{"of two dots", ".."},
	{"that is empty", ""},
	{"of 250 characters", strings.Repeat("x", 250)},
}

var badNameAlone = testenv.Case{
	Name:   "kafkametadata/bad-name-alone",
	Claim:  "with auto-creation a record to an illegal topic name fails alone and promptly, and the client's other topics never pause",
	Issue:  "https://issues.apache.org/jira/browse/KAFKA-1884",
	Client: underTest,
	KnownBad: []testenv.Combination{
		{Broker: "0.8.2.1", Evidence: "of a mixed flush a good topic's record fails with INVALID_TOPIC_EXCEPTION; the broker tells a client that asks for a good topic beside a bad one of neither"},
	},
	KnownGood: []testenv.Combination{
		{Broker: "1.0.0"}, {Broker: "3.9.2"}, {Broker: "4.4.0"},
	},
}

var badNameWithoutCreation = testenv.Case{
	Name:      "kafkametadata/bad-name-without-auto-creation",
	Claim:     "without auto-creation a record to an illegal topic name fails alone and promptly also on 0.8.2.1, and the client's other topics never pause",
	Issue:     "https://issues.apache.org/jira/browse/KAFKA-1884",
	Client:    underTest,
	KnownGood: []testenv.Combination{{Broker: "0.8.2.1"}},
}

// autoCreation is the setting that makes the poison on 0.8.
func autoCreation(on bool) map[string]string {
	return map[string]string{"auto.create.topics.enable": fmt.Sprint(on)}
}

func TestBadNameFailsAloneAndGoodTopicsNeverPause(t *testing.T) {
	for _, version := range testenv.KafkaVersions("1.0.0", "4.4.0") {
		t.Run("on "+version, func(t *testing.T) {
			env := testenv.New(t, badNameAlone)
			kafka := env.StartKafka(testenv.KafkaSpec{Version: version, Config: autoCreation(true)})
			badNamesFailAlone(t, env, kafka, kgo.AllowAutoTopicCreation())
		})
	}
}

func TestBadNameFailsAloneOnOldBrokerWithoutAutoCreation(t *testing.T) {
	env := testenv.New(t, badNameWithoutCreation)
	kafka := env.StartKafka(testenv.KafkaSpec{Version: "0.8.2.1", Config: autoCreation(false)})
	// It does not tell an illegal name from an unknown one, and that the client retries:
	// by default four times, 5 s apart.
	badNamesFailAlone(t, env, kafka, kgo.UnknownTopicRetries(0))
}

// badNamesFailAlone is the flow: two streams go on while each of the bad names is sent,
// and then all of them in one flush with good ones.
func badNamesFailAlone(t *testing.T, env *testenv.Env, kafka *testenv.Kafka, options ...kgo.Opt) {
	t.Helper()
	const orders, invoices = "orders", "invoices"
	for _, topic := range []string{orders, invoices, "mixed"} {
		require.NoError(t, kafka.CreateTopic(env.Context(), topic, 1))
	}
	env.Witness("a fresh client that asks for a good topic beside a bad one is told of it", freshIsTold(env, kafka, orders, poison))
	c := underTestIn(t, env, kafka, options...)
	streams := startStreams(env, c, orders, invoices)
	all := []string{"mixed"}
	for _, bad := range badNames {
		f := newFlush(bad.name)
		env.Inject(f.sent(env, kafka, c, "a name "+bad.kind))
		env.Within("the record to a name "+bad.kind+" fails promptly", promptly, f.ends(deserved(kafka)))
		all = append(all, bad.name)
	}
	mixed := newFlush(append(all, "mixed")...)
	env.Inject(mixed.sent(env, kafka, c, "good and bad names in one flush"))
	env.Within("of a mixed flush the bad names fail promptly and the good ones do not", promptly, mixed.ends(deserved(kafka)))
	neverPaused(env, streams)
	readBack(env, kafka, streams...)
}

// freshIsTold is the witness who tells a client that gives up good topics for a bad one
// from a broker that answers for none of them: it asks for both at once.
func freshIsTold(env *testenv.Env, kafka *testenv.Kafka, good, bad string) testenv.Probe {
	return fresh(env, kafka, func(ctx context.Context, c client) error {
		r := kmsg.NewPtrMetadataRequest()
		for _, name := range []string{good, bad} {
			topic := kmsg.NewMetadataRequestTopic()
			topic.Topic = kmsg.StringPtr(name)
			r.Topics = append(r.Topics, topic)
		}
		told, err := r.RequestWith(ctx, c)
		if err != nil {
			return err
		}
		for _, topic := range told.Topics {
			if topic.Topic != nil && *topic.Topic == good {
				return kerr.ErrorForCode(topic.ErrorCode)
			}
		}
		return fmt.Errorf("the answer does not name %q", good)
	})
}

// startStreams sends to the topics, each on its own, and returns when all of them flow.
func startStreams(env *testenv.Env, c client, topics ...string) []*stream {
	var all []*stream
	for _, topic := range topics {
		env.Within("the client sends to "+called(topic)+" before the fault", 20*time.Second, c.sends(topic))
		all = append(all, startStream(env, c, topic, 1))
	}
	for _, s := range all {
		env.Within("the stream to "+called(s.topic)+" flows", 10*time.Second, s.goesOn())
		s.restarts()
	}
	return all
}

// neverPaused wants the streams to have gone on, and to go on still.
func neverPaused(env *testenv.Env, streams []*stream) {
	for _, s := range streams {
		env.Holds("the records to "+called(s.topic)+" never pause", 500*time.Millisecond, s.neverPauses)
		env.Evidence("longest_gap_ms_"+called(s.topic), int(s.longestGap().Milliseconds()))
	}
}

// deserved is success for a good name and a refusal for a bad one. A broker of 0.8 that
// creates no topics calls a bad one unknown.
func deserved(kafka *testenv.Kafka) func(topic string, err error) error {
	told := func(err error) bool {
		return errors.Is(err, kerr.InvalidTopicException) || kafka.Before(0, 9) && errors.Is(err, kerr.UnknownTopicOrPartition)
	}
	return func(topic string, err error) error {
		bad := slices.ContainsFunc(badNames, func(b struct{ kind, name string }) bool { return b.name == topic })
		switch {
		case !bad:
			return err
		case err == nil:
			return errors.New("it was taken")
		case topic == "" || told(err) || strings.Contains(err.Error(), "invalid long topic name"):
			// The client itself refuses the empty name, and one of over 249 characters where
			// the broker does not (0.9), with errors of no type.
			return nil
		}
		return fmt.Errorf("it failed, but not for its name: %w", err)
	}
}
