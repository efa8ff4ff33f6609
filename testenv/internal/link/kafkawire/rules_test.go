package kafkawire

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFramesPassUntouchedHoweverTheyAreSplit(t *testing.T) {
	for _, most := range []int{1, 3, 11, 50, 1 << 16} {
		r := New()
		w := newWire(t, r)
		var up, down []byte
		for id := range int32(200) {
			up = append(up, request(metadata, id, int(id)*7%300)...)
			down = append(down, response(199-id, int(id)*5%200)...)
		}
		inPieces(up, most, w.up.Pass)
		inPieces(down, most, w.down.Pass)
		require.Equal(t, up, w.server())
		require.Equal(t, down, w.client())
		require.EqualValues(t, 200, r.Requests(metadata))
		require.EqualValues(t, 200, r.Responses(metadata), "in the reverse order of the requests")
		require.Zero(t, w.touched.Load())
	}
}

func TestHeldRequestWaitsWithWhatFollowsUntilRemoved(t *testing.T) {
	for _, most := range []int{1, 1 << 16} {
		r := New()
		held := r.Add(Match{Key: produce, Nth: 2}, Hold())
		w := newWire(t, r)
		before := slices.Concat(request(produce, 1, 10), request(metadata, 2, 0))
		behind := slices.Concat(request(produce, 3, 99), request(produce, 4, 10), request(metadata, 5, 10))
		inPieces(slices.Concat(before, behind), most, w.up.Pass)
		becomes(t, before, w.server)
		require.EqualValues(t, 3, held.Matched(), "what waits is seen already")
		require.EqualValues(t, 1, held.Acted())
		require.EqualValues(t, 1, w.touched.Load())

		w.down.Pass(response(1, 5))
		require.Equal(t, response(1, 5), w.client(), "the other direction goes on")
		held.Remove()
		held.Remove()
		becomes(t, slices.Concat(before, behind), w.server)
		w.up.Pass(request(produce, 6, 1))
		becomes(t, slices.Concat(before, behind, request(produce, 6, 1)), w.server)
		require.EqualValues(t, 1, held.Acted())
	}
}

func TestAnswerIsFoundByItsRequestInAnyOrder(t *testing.T) {
	for _, order := range [][]int32{{1, 2, 3, 4}, {4, 3, 2, 1}, {3, 1, 4, 2}} {
		r := New()
		dropped := r.Add(Match{Key: produce, Responses: true}, Drop())
		w := newWire(t, r)
		w.up.Pass(slices.Concat(request(metadata, 1, 0), request(produce, 2, 0), request(produce, 3, 0), request(metadata, 4, 0)))
		var want []byte
		for _, id := range order {
			w.down.Pass(response(id, 20))
			if id == 1 || id == 4 {
				want = append(want, response(id, 20)...)
			}
		}
		require.Equal(t, want, w.client())
		require.EqualValues(t, 2, dropped.Acted())
		require.EqualValues(t, 2, r.Responses(produce))
	}
}

func TestRequestsWithoutAnswerDoNotShiftTheOthers(t *testing.T) {
	r := New()
	lost := r.Add(Match{Key: metadata, Responses: true}, Drop())
	w := newWire(t, r)
	const unanswered = 3 * mostOpen
	for id := range int32(unanswered) {
		w.up.Pass(request(produce, id, 1))
	}
	w.up.Pass(slices.Concat(request(metadata, unanswered, 1), request(produce, unanswered+1, 1)))
	w.down.Pass(slices.Concat(response(unanswered+1, 1), response(unanswered, 1)))
	require.Equal(t, response(unanswered+1, 1), w.client())
	require.EqualValues(t, 1, lost.Acted())
	c := w.up.(*direction).conn
	require.LessOrEqual(t, len(c.open), mostOpen)
	require.LessOrEqual(t, len(c.order), mostOpen)
}

func TestDroppedRequestIsGoneAndTheNextPass(t *testing.T) {
	for _, most := range []int{1, 7, 1 << 16} {
		r := New()
		dropped := r.Add(Match{Key: metadata, Nth: 1}, Drop())
		w := newWire(t, r)
		inPieces(slices.Concat(request(produce, 1, 50), request(metadata, 2, 50), request(metadata, 3, 50)), most, w.up.Pass)
		require.Equal(t, slices.Concat(request(produce, 1, 50), request(metadata, 3, 50)), w.server())
		require.EqualValues(t, 1, dropped.Acted())
		require.EqualValues(t, 2, r.Requests(metadata))
	}
}

func TestDelayCountsFromTheArrivalOfEachFrame(t *testing.T) {
	const d = 200 * time.Millisecond
	r := New()
	late := r.Add(Match{Key: produce}, Delay(d))
	w := newWire(t, r)
	all := slices.Concat(request(produce, 1, 9), request(produce, 2, 9), request(produce, 3, 9))
	began := time.Now()
	w.up.Pass(all)
	require.Less(t, time.Since(began), d)
	becomes(t, all, w.server)
	require.GreaterOrEqual(t, time.Since(began), d)
	require.Less(t, time.Since(began), 2*d, "the delays of pipelined frames run side by side")
	require.EqualValues(t, 3, late.Acted())
}

func TestRemovalEndsADelay(t *testing.T) {
	r := New()
	late := r.Add(Match{Key: produce}, Delay(time.Hour))
	w := newWire(t, r)
	w.up.Pass(request(produce, 1, 9))
	require.Empty(t, w.server())
	late.Remove()
	becomes(t, request(produce, 1, 9), w.server)
}

func TestLostAnswerResetsItsConnectionAfterWhatCameBefore(t *testing.T) {
	r := New()
	late := r.Add(Match{Key: metadata, Responses: true}, Delay(100*time.Millisecond))
	lost := r.Add(Match{Key: produce, Responses: true}, Lose())
	first, second := newWire(t, r), newWire(t, r)
	first.up.Pass(slices.Concat(request(metadata, 1, 0), request(produce, 2, 0)))
	second.up.Pass(request(produce, 1, 0))

	first.down.Pass(slices.Concat(response(1, 4), response(2, 4)))
	require.False(t, first.isReset())
	require.Eventually(t, first.isReset, patience, time.Millisecond)
	require.Equal(t, response(1, 4), first.client())
	require.False(t, second.isReset(), "another connection is not touched")

	second.down.Pass(response(1, 4))
	require.True(t, second.isReset())
	require.Empty(t, second.client())
	require.EqualValues(t, 1, late.Acted())
	require.Eventually(t, func() bool { return lost.Acted() == 2 }, patience, time.Millisecond)
}

func TestNthIsCountedOverAllConnections(t *testing.T) {
	r := New()
	dropped := r.Add(Match{Key: produce, Nth: 3}, Drop())
	first, second := newWire(t, r), newWire(t, r)
	first.up.Pass(request(produce, 1, 0))
	second.up.Pass(request(produce, 1, 0))
	first.up.Pass(request(produce, 2, 0))
	second.up.Pass(request(produce, 2, 0))
	require.Equal(t, request(produce, 1, 0), first.server())
	require.Equal(t, slices.Concat(request(produce, 1, 0), request(produce, 2, 0)), second.server())
	require.EqualValues(t, 1, dropped.Acted())
	require.EqualValues(t, 4, dropped.Matched())
}

func TestFirstRuleThatWouldActDoesAndEachCounts(t *testing.T) {
	r := New()
	second := r.Add(Match{Key: produce, Nth: 2}, Drop())
	every := r.Add(Match{Key: produce}, Delay(0))
	w := newWire(t, r)
	w.up.Pass(slices.Concat(request(produce, 1, 0), request(produce, 2, 0), request(produce, 3, 0)))
	becomes(t, slices.Concat(request(produce, 1, 0), request(produce, 3, 0)), w.server)
	require.EqualValues(t, 1, second.Acted())
	require.EqualValues(t, 2, every.Acted())
	require.EqualValues(t, 3, every.Matched())
}

func TestCountsOfKeysThatAreNone(t *testing.T) {
	r := New()
	require.Zero(t, r.Requests(-1))
	require.Zero(t, r.Responses(keys))
}
