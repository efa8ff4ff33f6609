package testenv

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

func TestTimelineForProgramsTellsEachWaitWithBudgetAndTime(t *testing.T) {
	dir := t.TempDir()
	scenario(t, func(tb testing.TB) {
		e := New(tb, Case{Name: "cases/one"})
		e.Closes("the evidence", func() {
			e.addTimeline(&evidence.Bundle{Dir: dir, Limit: time.Minute})
		})
		e.Within("it sends before", 2*time.Second, succeeds)
		e.Inject(harmless).Heal()
		e.Recovers("it sends", short, times)
	})
	text, err := os.ReadFile(filepath.Join(dir, "timeline.json"))
	require.NoError(t, err)
	var was evidence.Record
	require.NoError(t, json.Unmarshal(text, &was))
	require.WithinDuration(t, time.Now(), was.Started, time.Minute)
	begun, ended := map[string]int64{}, map[string]int64{}
	for _, e := range was.Entries {
		switch {
		case e.Wait == nil:
		case e.Wait.TookMS == nil:
			begun[e.Kind+" "+e.Wait.Name] = e.Wait.BudgetMS
		default:
			ended[e.Kind+" "+e.Wait.Name] = *e.Wait.TookMS
		}
	}
	require.EqualValues(t, 2000, begun["within it sends before"])
	require.Equal(t, short.Milliseconds(), begun["recovers it sends"])
	require.Contains(t, ended, "holds it sends before")
	require.Contains(t, ended, "fault "+harmless.Name)
	require.Contains(t, ended, "heal "+harmless.Name)
	require.NotContains(t, ended, "recovered it sends", "a wait that did not come true has no end")
	require.FileExists(t, filepath.Join(dir, "timeline.txt"))
}
