package settings

import (
	"path/filepath"
	"strings"
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

// FuzzParse gives two entries of any content. What is taken ends up in file names, in
// image tags and in a shell's command; what is refused is named, and the default in its
// place.
func FuzzParse(f *testing.F) {
	for _, setting := range Table {
		f.Add(setting.Name+"="+setting.Default, "HOME=/nowhere")
	}
	f.Add("BROKERFAULT_SCALE=1e2", "BROKERFAULT_SCALE=0x1p3")
	f.Add("BROKERFAULT_PULSAR=3.0.2\n", "BROKERFAULT_CACHE=/a/../../b")
	f.Add("BROKERFAULT_=", "=BROKERFAULT_KEEP=1")
	f.Add("BROKERFAULT_BASE_IMAGE=a@sha256:b", "BROKERFAULT_ROCKETMQ=5.5.0-broker-5.5.1")
	f.Fuzz(func(t *testing.T, first, second string) {
		s, err := Parse([]string{first, second})
		if err != nil {
			require.ErrorContains(t, err, Prefix)
		}
		require.GreaterOrEqual(t, s.Scale, 1.0)
		require.LessOrEqual(t, s.Scale, 100.0)
		require.True(t, filepath.IsAbs(s.Cache), s.Cache)
		require.Equal(t, filepath.Clean(s.Cache), s.Cache)
		require.Contains(t, []string{"auto", "container", "process"}, s.Backend)
		require.Contains(t, []string{"fast", "full"}, s.Profile)
		for _, word := range []string{s.Kafka, s.Pulsar, s.RocketMQ, s.BaseImage} {
			require.NotEmpty(t, word)
			require.NotContains(t, "-./", word[:1])
			require.False(t, strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`$;&|<>()*?[]{}\\!#", r) }), "%q", word)
		}
	})
}
