package kafkatxn

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokerfault/brokerfault/testenv"
)

func TestTopicDeletedInsideTransactionHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Case{
		Name:      "kafkatxn/topic-deleted",
		Claim:     "a topic deleted inside a transaction: the commit returns within a bound, the other topic's records show, and the client goes on",
		Client:    underTest,
		Shares:    true,
		KnownGood: []testenv.Combination{{Broker: "3.9.2"}, {Broker: "4.4.0"}},
	})
	s := newScene(t, env, testenv.KafkaSpec{})
	doomed := env.Unique("doomed") // is deleted inside a transaction
	s.createTopic(doomed, 1)
	committed := s.reader("read_committed", kgo.ReadCommitted(), s.orders)
	client := s.client("client", s.transactional("deleted", 30*time.Second)...)

	s.healthy("the client commits", testenv.AtOnce(commits(client, "before")), committed)
	env.Inject(testenv.Fault{
		Name: "a topic is deleted inside a transaction",
		Apply: func(ctx context.Context) error {
			if err := opens(ctx, client, "beside"); err != nil {
				return err
			}
			if err := client.ProduceSync(ctx, &kgo.Record{Topic: doomed, Value: []byte("lost")}).FirstErr(); err != nil {
				return err
			}
			_, err := s.admin.DeleteTopic(ctx, doomed)
			return err
		},
		Bites: func(ctx context.Context) error {
			topics, err := s.admin.ListTopics(ctx, doomed)
			if err != nil {
				return err
			}
			if !errors.Is(topics[doomed].Err, kerr.UnknownTopicOrPartition) {
				return errors.Join(errors.New("the topic is still known"), topics[doomed].Err)
			}
			return nil
		},
	})
	env.Recovers("the transaction is committed", 15*time.Second, testenv.AtOnce(func(ctx context.Context) error {
		return client.EndTransaction(ctx, kgo.TryCommit)
	}))
	env.Within("the other topic's record shows", 10*time.Second, committed.hasRead("before", "beside"))
	env.Within("the client commits the next transaction", 15*time.Second, commits(client, "next"))
	env.Within("it shows, once", 10*time.Second, committed.hasRead("before", "beside", "next"))
}
