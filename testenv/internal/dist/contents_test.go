package dist

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContentsTellWhatIsThere(t *testing.T) {
	cache, _, _ := newCache(t)
	bill := pulsar302(t)
	require.Empty(t, cache.Contents())
	require.False(t, cache.Has(bill))
	jars, err := cache.Jars(t.Context(), bill)
	require.NoError(t, err)
	require.True(t, cache.Has(bill))
	size, err := jars.Size()
	require.NoError(t, err)
	require.Greater(t, size, int64(3*100))
	require.Equal(t, []Held{{Name: "pulsar-3.0.2", Jars: len(fakeJars), Bytes: size}}, cache.Contents())
	require.NoError(t, os.Remove(filepath.Join(jars.Dir, jars.Names[0])))
	require.False(t, cache.Has(bill))
}

func TestBrokersAreNamedAsTheirSettingsNameThem(t *testing.T) {
	for _, tt := range []struct{ broker, version, want string }{
		{"kafka", "3.9.2", "kafka 3.9.2"},
		{"pulsar", "3.0.2", "pulsar 3.0.2"},
		{"rocketmq", "5.5.0", "rocketmq 5.5.0"},
		{"rocketmq", "5.5.1", "rocketmq 5.5.0-broker-5.5.1"},
		{"rocketmq", "5.4.0-broker-5.5.0", "rocketmq 5.4.0-broker-5.5.0"},
	} {
		b, err := Named(tt.broker, tt.version)
		require.NoError(t, err)
		require.Equal(t, tt.want, b.Broker+" "+b.Version)
	}
	_, err := Named("redis", "7")
	require.ErrorContains(t, err, `no broker "redis"`)
	_, err = Named("kafka", "../x")
	require.ErrorContains(t, err, "is not a plain version")
}
