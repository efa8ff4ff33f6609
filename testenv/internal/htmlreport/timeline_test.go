package htmlreport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

func TestPhasesAreTheLifeOfTheScenario(t *testing.T) {
	tl := draw(failing())
	type was struct {
		kind     string
		from, to int64
		took     string
	}
	var got []was
	for _, p := range tl.Phases {
		got = append(got, was{p.Kind, p.from, p.to, p.Took})
	}
	require.Equal(t, []was{
		{"start", 5, 9000, "8.90\u00a0s"}, {"healthy", 9100, 9200, "100\u00a0ms"}, {"fault", 9200, 10_000, "800\u00a0ms"},
		{"observe", 10_000, 15_000, "5.00\u00a0s"}, {"heal", 15_000, 15_100, "100\u00a0ms"},
		{"recover", 15_300, 45_100, ""}, {"witness", 45_100, 45_400, "300\u00a0ms"},
	}, got)
	require.EqualValues(t, 45_400, tl.end, "the clean-up is not drawn")
	require.Len(t, tl.Faults, 1)
	require.EqualValues(t, 10_000, tl.Faults[0].from)
	require.EqualValues(t, 15_100, tl.Faults[0].to)
}

func TestRecoveryIsDrawnFromTheHealing(t *testing.T) {
	name := "it sends"
	tl := draw([]evidence.Entry{
		{AtMS: 5000, Kind: "recovers", Wait: &evidence.Wait{Name: name, BudgetMS: 30_000}},
		{AtMS: 6000, Kind: "recovered", Wait: &evidence.Wait{Name: name, BudgetMS: 30_000, TookMS: new(int64(4000))}},
		{AtMS: 6000, Kind: "within", Wait: &evidence.Wait{Name: name}},
		{AtMS: 6100, Kind: "holds", Wait: &evidence.Wait{Name: name, TookMS: new(int64(100))}},
	})
	require.EqualValues(t, 2000, tl.Phases[0].from)
	require.EqualValues(t, 6000, tl.Phases[0].to, "a later wait of the same name ends itself")
	require.EqualValues(t, 6100, tl.Phases[1].to)
}

func TestFaultThatIsOverByItselfLiesOnNothing(t *testing.T) {
	wait := evidence.Begun("the broker restarts", 0)
	entries := []evidence.Entry{
		{AtMS: 0, Kind: "fault", Wait: wait},
		{AtMS: 10, Kind: "fault", Wait: wait.After(10)},
		{AtMS: 20, Kind: "within", Wait: evidence.Begun("it sends", 0)},
	}
	require.Empty(t, draw(entries).Faults)
	require.Equal(t, "steady", draw(entries).Phases[1].Kind)
	entries = append(entries, evidence.Entry{AtMS: 30, Kind: "cleanup", Text: "heal the broker restarts: done in 1s"})
	require.Len(t, draw(entries).Faults, 1)
	require.Equal(t, "observe", draw(entries).Phases[1].Kind)
}

func TestTicksAreRoundAndFew(t *testing.T) {
	for _, end := range []int64{1, 7, 999, 17_600, 45_400, 258_000, 3_600_000, 90_000_000} {
		all := ticks(end)
		require.LessOrEqual(t, len(all), 9, end)
		require.GreaterOrEqual(t, len(all), 2, end)
		require.Equal(t, "0", all[0].Text)
	}
	require.Equal(t, "5\u00a0s", ticks(17_600)[1].Text)
}
