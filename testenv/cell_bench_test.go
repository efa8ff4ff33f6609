package testenv

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkOneMoreCell tells what one more scenario of a cut link costs, from its New to
// the end of its clean-up: with a Kafka of its own, and with that of an earlier scenario
// (Case.Shares).
//
//	go test -run '^$' -bench OneMoreCell -benchtime 5x ./testenv
func BenchmarkOneMoreCell(b *testing.B) {
	cell := func(shares bool) started {
		began := time.Now()
		addressIn(b, Case{Name: "testenv/cell", Claim: "a cell", Shares: shares}, KafkaSpec{}, nil)
		return started{took: time.Since(began)}
	}
	cell(true) // this one starts what the later ones share
	var own, shared []started
	for b.Loop() {
		own, shared = append(own, cell(false)), append(shared, cell(true))
	}
	b.ReportMetric(0, "ns/op")
	o, s := median(own).took, median(shared).took
	require.Positive(b, o)
	b.ReportMetric(o.Seconds(), "own-s")
	b.ReportMetric(s.Seconds(), "shared-s")
	b.ReportMetric(s.Seconds()/o.Seconds(), "ratio-time")
}
