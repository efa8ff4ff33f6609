package kafkametadata

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv"
)

// withTwoTopics starts a Kafka, or takes over that of an earlier test, and makes orders
// and invoices, topics of this test alone.
func withTwoTopics(t *testing.T, env *testenv.Env, spec testenv.KafkaSpec) (kafka *testenv.Kafka, orders, invoices string) {
	t.Helper()
	kafka = env.StartKafka(spec)
	orders, invoices = env.Unique("orders"), env.Unique("invoices")
	for _, topic := range []string{orders, invoices} {
		require.NoError(t, kafka.CreateTopic(env.Context(), topic, 1))
	}
	env.Witness("a fresh client sends", freshSends(env, kafka, orders))
	return kafka, orders, invoices
}

func TestClaimsCallATopicTheSameInEveryRun(t *testing.T) {
	var env testenv.Env
	require.Equal(t, "orders", called(env.Unique("orders")))
}

// called is what claims and evidence call a topic, in every run the same: its name
// without the end that Unique gives it.
func called(topic string) string {
	name, _, _ := strings.Cut(topic, "-")
	return name
}
