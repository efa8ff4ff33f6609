package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/doctor"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

func TestDoctorEndsAsAnEnvironmentThatKeepsARunFromWorking(t *testing.T) {
	t.Setenv("BROKERFAULT_BACKEND", "")
	t.Setenv("PATH", t.TempDir())
	t.Setenv("DOCKER_HOST", "unix:///nowhere.sock")
	var out, words bytes.Buffer
	require.Equal(t, gate.ExitEnvironment, Main([]string{"doctor", "-json"}, &out, &words), words.String())
	var r doctor.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.False(t, r.Fit)

	out.Reset()
	require.Equal(t, gate.ExitEnvironment, Main([]string{"doctor"}, &out, &words))
	require.Contains(t, out.String(), "a run could not work")
	require.Contains(t, out.String(), "runtime: start Docker, or install Java 17")
}
