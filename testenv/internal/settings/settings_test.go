package settings

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultsHoldWhereNothingIsSet(t *testing.T) {
	s, err := Parse([]string{"HOME=/nowhere", "BROKERFAULT_BACKEND="})
	require.NoError(t, err)
	require.Equal(t, "auto", s.Backend)
	require.Equal(t, "3.0.2", s.Pulsar)
	require.InDelta(t, 1.0, s.Scale, 0)
	require.False(t, s.Require)
}

func TestBadValuesNameTheSettingAndWhatItTakes(t *testing.T) {
	for _, bad := range []string{
		"BROKERFAULT_BACKEND=podman", "BROKERFAULT_PULSAR=../../etc", "BROKERFAULT_PULSAR=latest", "BROKERFAULT_SCALE=0",
		"BROKERFAULT_SCALE=NaN", "BROKERFAULT_SCALE=1s", "BROKERFAULT_REQUIRE=yes", "BROKERFAULT_CACHE=here",
		"BROKERFAULT_PROFILE=slow", "BROKERFAULT_BASE_IMAGE=a b",
	} {
		_, err := Parse([]string{bad})
		require.ErrorContains(t, err, bad[:len("BROKERFAULT_")+2])
		require.ErrorContains(t, err, "it takes ")
	}
}

func TestAllThatIsWrongIsNamed(t *testing.T) {
	env := []string{"BROKERFAULT_SCALE=0", "BROKERFAULT_KAFKA=4.4.0", "BROKERFAULT_KAKFA=4.4.0", "BROKERFAULT_PULSAR=latest", "HOME=/x", "BROKERFAULT_SUPERVISE=1"}
	s, err := Parse(env)
	for _, name := range []string{"BROKERFAULT_SCALE=", "BROKERFAULT_KAKFA is no setting", "BROKERFAULT_PULSAR="} {
		require.ErrorContains(t, err, name)
	}
	require.Equal(t, "4.4.0", s.Kafka)
	require.Equal(t, "3.0.2", s.Pulsar)
	require.Equal(t, []string{"BROKERFAULT_KAFKA=4.4.0", "BROKERFAULT_KAKFA=4.4.0", "BROKERFAULT_PULSAR=latest", "BROKERFAULT_SCALE=0"}, InForce(env))
}

func TestUnknownSettingIsRefused(t *testing.T) {
	_, err := Parse([]string{"BROKERFAULT_BACKED=process"})
	require.ErrorContains(t, err, "BROKERFAULT_BACKED is no setting")
	require.ErrorContains(t, err, "BROKERFAULT_BACKEND")
}

func FuzzParse(f *testing.F) {
	f.Add("BROKERFAULT_SCALE=2")
	f.Add("BROKERFAULT_PULSAR=3.0.2")
	f.Fuzz(func(t *testing.T, entry string) {
		s, err := Parse([]string{entry})
		if err == nil {
			require.GreaterOrEqual(t, s.Scale, 1.0)
		}
	})
}
