package poll

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkDetection tells how long after something has come true Until says so:
// the median and the 99th percentile, of probes that take no time themselves.
//
//	go test -run '^$' -bench Detection -benchtime 200x ./testenv/internal/poll
func BenchmarkDetection(b *testing.B) {
	var delays []time.Duration
	for b.Loop() {
		ready := time.Now().Add(20*time.Millisecond + rand.N(100*time.Millisecond))
		_, err := Until(b.Context(), Options{Budget: 10 * time.Second}, func(context.Context) error {
			if time.Now().Before(ready) {
				return errors.New("not yet")
			}
			return nil
		})
		require.NoError(b, err)
		delays = append(delays, time.Since(ready))
	}
	slices.Sort(delays)
	at := func(share float64) float64 {
		return float64(delays[int(share*float64(len(delays)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}
