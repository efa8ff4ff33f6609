package kafkametadata

import (
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

// anew is where the numbers of the records to the new topic begin.
const anew = 1_000_000

var recreatedProducer = testenv.Case{
	Name:   "kafkametadata/recreated-topic-producer",
	Claim:  "a producer's topic that is deleted and made anew takes its records or fails them, its other topic never pauses, and after a purge the same client sends",
	Issue:  "https://github.com/twmb/franz-go/issues/1426",
	Client: underTest,
	Shares: true,
}

var recreatedConsumer = testenv.Case{
	Name:   "kafkametadata/recreated-topic-consumer",
	Claim:  "a group consumer of a topic that is deleted and made anew reads the new records or says an error, reads its other topic on, and reads the new topic after purging and adding it",
	Issue:  "https://github.com/twmb/franz-go/issues/1426",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{{
		Client:   "v1.21.5",
		Evidence: "silent: on 3.9.2 neither an error nor a new record within 15 s",
	}},
	KnownGood: []testenv.Combination{{Client: "v1.22.3"}},
}

var recreatedOffsets = testenv.Case{
	Name:   "kafkametadata/recreated-topic-offsets",
	Claim:  "a consumer that was told that its topic was made anew commits no offset of the old topic to the new one",
	Issue:  "https://github.com/twmb/franz-go/issues/908",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{{
		Client:   "v1.21.5",
		Evidence: "on 3.9.2 the offset 310 of the old topic is stored for the new one, which ends at 20",
	}},
	KnownGood: []testenv.Combination{{Client: "v1.22.3"}},
}

// noOldOffset is what fails where a commit cannot name the topic by its ID.
const noOldOffset = "no old offset is committed to the new topic"

var pausedOffsets = testenv.Case{
	Name:   "kafkametadata/recreated-topic-offsets-paused",
	Claim:  "a consumer that has paused a topic commits no offset of it to the topic that was made anew under its name",
	Issue:  "https://github.com/twmb/franz-go/issues/908",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{{
		Client:   "v1.22.3",
		Broker:   "3.9.2",
		Evidence: "the offset 310 of the old topic is stored for the new one, which ends at 20; from 4.4.0 on the commit names the topic's ID and is refused with UNKNOWN_TOPIC_ID",
		Fails:    noOldOffset,
		Open:     "https://github.com/twmb/franz-go/issues/908",
	}, {
		Client:   "v1.21.5",
		Broker:   "3.9.2",
		Evidence: "the offset of the old topic is stored for the new one, as with v1.22.3",
	}, {
		Client:   "v1.16.1",
		Broker:   "4.4.0",
		Evidence: "the offset 310 of the old topic is stored for the new one, which ends at 20: this client commits by the topic's name",
	}},
	KnownGood: []testenv.Combination{{Client: "v1.22.3", Broker: "4.4.0"}, {Client: "v1.21.5", Broker: "4.4.0"}},
}

func TestProducerOfARecreatedTopicIsToldAndItsOtherTopicGoesOn(t *testing.T) {
	env := testenv.New(t, recreatedProducer)
	kafka, orders, invoices := withTwoTopics(t, env, testenv.KafkaSpec{})
	a := newAdmin(t, env, kafka)
	c := underTestIn(t, env, kafka)
	streams := startStreams(env, c, orders, invoices)
	lost, spared := streams[0], streams[1]

	env.Inject(a.recreated(kafka, orders))
	env.Recovers("a record to the new topic is taken or fails", 10*time.Second, lost.isHeardOf())
	env.Within("and goes on being taken or failing", 5*time.Second, lost.isHeardOf())
	_, latest := lost.failures()
	env.Note("the latest error of the recreated topic: %v", latest)
	env.Holds("the other topic never pauses", time.Second, spared.neverPauses)
	env.Evidence("longest_gap_ms_"+called(invoices), int(spared.longestGap().Milliseconds()))

	env.Within("the stream to the old topic ends", 10*time.Second, testenv.AtOnce(lost.stop))
	c.PurgeTopicsFromClient(orders)
	again := startStream(env, c, orders, anew)
	env.Within("after a purge the same client sends to the new topic", 15*time.Second, again.goesOn())
	env.Holds("the other topic never pauses", time.Second, spared.neverPauses)
	readBack(env, kafka, again, spared)
}
