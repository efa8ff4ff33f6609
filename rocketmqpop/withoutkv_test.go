package rocketmqpop

import (
	"testing"
	"time"

	"github.com/brokerfault/brokerfault/testenv"
)

var contentionWithoutKV = testenv.Case{
	Name:   "rocketmqpop/contention-without-popkv",
	Claim:  "of many concurrent retries with one attempt ID none is answered empty, also without PopKv",
	Issue:  "https://github.com/apache/rocketmq/issues/10827",
	Client: underTest,
	Shares: true,
	KnownBad: []testenv.Combination{
		{Broker: "5.5.1", Evidence: "331 of 1080 retries were answered empty: the broker's older path takes the queue's lock at once or not at all", Fails: noneEmpty, Open: noReport},
		{Broker: "5.5.0", Evidence: "as on 5.5.1", Fails: noneEmpty, Open: noReport},
	},
}

// noReport stands where a search found nothing.
const noReport = "no public report was found"

func TestRetriesOfOneAttemptAreNeverAnsweredEmptyWithoutPopKV(t *testing.T) {
	t.Parallel()
	c := contend(t, contentionWithoutKV, setting{withoutKV: true, proxy: patientAndEager})
	c.scene.witnessRetries()
	c.scene.env.Recovers(noneEmpty, 30*time.Second, testenv.AtOnce(c.check))
	c.finish()
}

var reentryWithoutKV = testenv.Case{
	Name:   "rocketmqpop/re-entry-without-popkv",
	Claim:  "a retry with the same attempt ID finds the same messages at once also without PopKv",
	Issue:  "https://github.com/apache/rocketmq/issues/10827",
	Client: underTest,
	Shares: true,
}

func TestSameAttemptFindsSameMessagesWithoutPopKV(t *testing.T) {
	t.Parallel()
	reenters(t, reentryWithoutKV, setting{withoutKV: true, proxy: patientAndEager})
}
