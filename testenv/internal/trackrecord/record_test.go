package trackrecord

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

func day(n int) time.Time { return time.Date(2026, 3, n, 23, 30, 0, 0, time.UTC) }

// judged are the controls of a case that showed this verdict with these versions.
func judged(bad bool, client, runtime string, verdict evidence.Verdict, reason string) gate.Controls {
	c := gate.Control{Case: "pulsarquota/one", At: gate.Combination{Client: client}, Bad: bad}
	r := gate.NewReport()
	r.Cells = append(r.Cells, gate.Cell{
		Case: "pulsarquota/one", Client: "example.com/client", ClientVersion: client, Broker: "pulsar", BrokerVersion: "3.0.2",
		Runtime: runtime, Verdict: verdict, Reason: reason,
	})
	c.Judge(r)
	return gate.Controls{c}
}

func sighting(client, runtime, date, commit, symptom string) Sighting {
	return Sighting{"pulsarquota/one", "example.com/client", client, "pulsar", "3.0.2", runtime, date, commit, symptom}
}

func TestOnlyAListedFailureThatWasSeenIsNoted(t *testing.T) {
	require.Equal(t, Record{sighting("v1.0.0", "process", "2026-03-01", "abc", "the same producer sends again: not within 30s")},
		Record{}.With(judged(true, "v1.0.0", "process", evidence.NotRecovered, "the same producer sends again: not within 30s listed as known-bad: seen dead"), day(1), "abc"))
	require.Empty(t, Record{}.With(judged(true, "v1.0.0", "process", evidence.Recovered, ""), day(1), "abc"), "it held")
	require.Empty(t, Record{}.With(judged(true, "v1.0.0", "process", evidence.Environment, "no engine"), day(1), "abc"), "not told")
	require.Empty(t, Record{}.With(judged(false, "v1.0.0", "process", evidence.NotRecovered, "dead"), day(1), "abc"), "listed as holding")
}

func TestNewSightingsAreMergedInAndOthersStay(t *testing.T) {
	r := Record{}.With(judged(true, "v1.1.0", "process", evidence.NotRecovered, "first"), day(1), "a")
	r = r.With(judged(true, "v1.0.0", "process", evidence.NotRecovered, "second"), day(2), "b")
	r = r.With(judged(true, "v1.0.0", "container", evidence.NotRecovered, "third"), day(3), "c")
	want := Record{
		sighting("v1.0.0", "container", "2026-03-03", "c", "third"),
		sighting("v1.0.0", "process", "2026-03-02", "b", "second"),
		sighting("v1.1.0", "process", "2026-03-01", "a", "first"),
	}
	require.Equal(t, want, r)

	want[2] = sighting("v1.1.0", "process", "2026-03-04", "d", "again")
	r = r.With(judged(true, "v1.1.0", "process", evidence.NotRecovered, "again"), day(4), "d")
	require.Equal(t, want, r, "the later one of a place is kept")
	require.Equal(t, want, r.With(judged(true, "v1.1.0", "process", evidence.NotRecovered, "old"), day(2), "b"), "an older one is not")
	want[2] = sighting("v1.1.0", "process", "2026-03-04", "e", "same day")
	require.Equal(t, want, r.With(judged(true, "v1.1.0", "process", evidence.NotRecovered, "same day"), day(4), "e"))
}

func TestSightingsOfAListedCombinationAreTheLatestOfEachRuntime(t *testing.T) {
	r := Record{
		sighting("v1.0.0", "container", "2026-03-03", "c", "third"),
		sighting("v1.0.0", "process", "2026-03-02", "b", "second"),
		sighting("v1.1.0", "process", "2026-03-05", "a", "first"),
	}
	require.Equal(t, []Sighting{r[0], r[2]}, r.Of("pulsarquota/one", "", "3.0.2"))
	require.Equal(t, []Sighting{r[0], r[1]}, r.Of("pulsarquota/one", "v1.0.0", ""))
	require.Empty(t, r.Of("pulsarquota/one", "", "4.2.4"))
	require.Empty(t, r.Of("pulsarquota/two", "", ""))
}

func TestFileIsReadBackAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.json")
	r, err := Read(path)
	require.NoError(t, err)
	require.Empty(t, r)
	require.NoError(t, r.Write(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "[]\n", string(text))

	r = r.With(judged(true, "v1.0.0", "process", evidence.NotRecovered, "dead"), day(1), "abc")
	require.NoError(t, r.Write(path))
	again, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, r, again)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestFileThatIsNoRecordIsNotOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.json")
	for _, text := range []string{"", "{}", `[{"case":"a/b","date":"yesterday"}]`, `[{"date":"2026-03-01"}]`, `[{"sighted":1}]`} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Read(path)
		require.ErrorContains(t, err, "read the track record", text)
	}
}
