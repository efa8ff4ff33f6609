package testenv

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The skeleton of a new case has these phases. Each that is written uncovers the next.
func TestEachPhaseThatIsToDoEndsTheTestAtOnce(t *testing.T) {
	written := map[string]bool{}
	probe := func(phase string) Probe {
		if written[phase] {
			return succeeds
		}
		return ToDo(phase)
	}
	skeleton := func(tb testing.TB) {
		e := New(tb, Case{Name: "testenv/double"})
		e.Within("all is well", time.Minute, probe("healthy"))
		fault := e.Inject(Fault{Name: "it is broken", Apply: probe("fault"), Bites: probe("proof"), Heal: probe("heal")})
		e.Holds("it is refused", 100*time.Millisecond, probe("observe"))
		fault.Heal()
		e.Recovers("it is back", time.Minute, probe("recover"))
		e.Within("all is there", time.Minute, probe("read back"))
	}
	for _, phase := range []string{"healthy", "fault", "proof", "observe", "heal", "recover", "read back"} {
		began := time.Now()
		d, _ := scenario(t, skeleton)
		require.True(t, d.Failed())
		require.Contains(t, d.attrs["reason"], "to do: "+phase)
		d.requireVerdict(t, "environment") // nobody is to blame for what is not written
		require.Less(t, time.Since(began), 10*time.Second, phase)
		written[phase] = true
	}
	d, _ := scenario(t, skeleton)
	require.False(t, d.Failed(), d.text())
}
