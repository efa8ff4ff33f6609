package kafkametadata

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/brokerfault/brokerfault/testenv"
)

// poison is a name like that of the incident.
const poison = "bad topic(中)"

var poisonReproduces = testenv.Case{
	Name:      "kafkametadata/poison-reproduces",
	Claim:     "on 0.8.2.1 with auto-creation one illegal topic name makes every record of the client's good topics fail too",
	Issue:     "https://issues.apache.org/jira/browse/KAFKA-2393",
	Client:    underTest,
	Shares:    true,
	KnownGood: []testenv.Combination{{Broker: "0.8.2.1", Evidence: "4004 of 4004 records to each good topic failed in 20 s; a fresh client sent"}},
}

var purgeHeals = testenv.Case{
	Name:      "kafkametadata/purge-heals-poison",
	Claim:     "a poisoned client sends to its good topics again once the illegal name is purged from it",
	Issue:     "https://issues.apache.org/jira/browse/KAFKA-2393",
	Client:    underTest,
	Shares:    true,
	KnownGood: []testenv.Combination{{Broker: "0.8.2.1"}},
}

var secondClient = testenv.Case{
	Name:      "kafkametadata/second-client-for-untrusted-names",
	Claim:     "a client of its own for untrusted names keeps the poison from the one for good topics, which never pause",
	Issue:     "https://issues.apache.org/jira/browse/KAFKA-2393",
	Client:    underTest,
	Shares:    true,
	KnownGood: []testenv.Combination{{Broker: "0.8.2.1"}},
}

// poisonous is the broker of the incident. It poisons the client that names an illegal
// topic, not the clients of later tests.
func poisonous() testenv.KafkaSpec {
	return testenv.KafkaSpec{Version: "0.8.2.1", Config: autoCreation(true)}
}

// The client does not ask for auto-creation: the old request cannot say so, and the
// broker creates what it is asked for.
func TestOneIllegalNameFailsTheGoodTopicsTooReproduces(t *testing.T) {
	env := testenv.New(t, poisonReproduces)
	kafka, orders, invoices := withTwoTopics(t, env, poisonous())
	c := underTestIn(t, env, kafka)
	streams := startStreams(env, c, orders, invoices)
	bad := newFlush(poison)
	env.Inject(bad.sent(env, kafka, c, "an illegal name"))
	env.Within("the record to the illegal name fails", promptly, bad.ends(func(_ string, err error) error { return wrongName(err) }))
	for _, s := range streams {
		env.Within("a record to "+called(s.topic)+" has failed for the other's name", promptly, s.isPoisoned)
		env.Holds("every record to "+called(s.topic)+" fails", env.ByProfile(3*time.Second, time.Minute), c.isPoisonedFor(s.topic))
	}
	env.Within("a fresh client sends", promptly, freshSends(env, kafka, orders))
	readBack(env, kafka, streams...)
}

func TestPurgeOfTheIllegalNameHealsThePoisonedClient(t *testing.T) {
	env := testenv.New(t, purgeHeals)
	kafka, orders, invoices := withTwoTopics(t, env, poisonous())
	c := underTestIn(t, env, kafka)
	streams := startStreams(env, c, orders, invoices)
	fault := newFlush(poison).sent(env, kafka, c, "an illegal name")
	fault.Bites = streams[0].isPoisoned
	fault.Heal = func(context.Context) error {
		c.PurgeTopicsFromClient(poison)
		return nil
	}
	poisoned := env.Inject(fault)
	env.Holds("every record to "+called(invoices)+" fails", time.Second, c.isPoisonedFor(invoices))
	poisoned.Heal()
	// The next metadata comes at MetadataMinAge, 5 s by default.
	for _, s := range streams {
		env.Recovers("the same client sends to "+called(s.topic)+" again", 15*time.Second, c.sends(s.topic))
		env.Within("the stream to "+called(s.topic)+" flows", 10*time.Second, s.goesOn())
	}
	readBack(env, kafka, streams...)
}

func TestSecondClientForUntrustedNamesKeepsTheFirstHealthy(t *testing.T) {
	env := testenv.New(t, secondClient)
	kafka, orders, invoices := withTwoTopics(t, env, poisonous())
	c := underTestIn(t, env, kafka)
	streams := startStreams(env, c, orders, invoices)
	untrusted := otherClient(t, env, kafka, "untrusted")
	env.Within("the client for untrusted names sends", promptly, untrusted.sends(orders))

	fault := newFlush(poison).sent(env, kafka, untrusted, "an illegal name")
	fault.Bites = func(ctx context.Context) error { return wrongName(untrusted.send(ctx, orders, "probe")) }
	env.Inject(fault)
	env.Holds("the client for untrusted names is poisoned", 3*time.Second, untrusted.isPoisonedFor(orders))
	neverPaused(env, streams)
	readBack(env, kafka, streams...)
}

// isPoisoned is the probe "a record failed for the name of another topic".
func (s *stream) isPoisoned(context.Context) error {
	n, err := s.failures()
	if n == 0 {
		return fmt.Errorf("no record to %q has failed", s.topic)
	}
	return wrongName(err)
}

// isPoisonedFor is the probe "a record to this good topic fails for the name of another".
func (c client) isPoisonedFor(topic string) testenv.Probe {
	return func(ctx context.Context) error { return wrongName(c.send(ctx, topic, "probe")) }
}

// wrongName wants the error of an illegal name.
func wrongName(err error) error {
	switch {
	case err == nil:
		return errors.New("the record was taken")
	case errors.Is(err, kerr.InvalidTopicException):
		return nil
	}
	return testenv.Stop(fmt.Errorf("the record failed, but not for a name: %w", err))
}
