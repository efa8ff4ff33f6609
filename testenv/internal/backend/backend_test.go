package backend

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime/process"
)

func TestAutoTakesContainersBeforeProcessesAndNamesBothWays(t *testing.T) {
	noEngine, noJava := errors.New("no engine"), errors.New("no java")
	for _, tt := range []struct {
		noEngine, noProcesses error
		want                  string
	}{{nil, nil, Container}, {nil, noJava, Container}, {noEngine, nil, Process}} {
		got, err := Choose(tt.noEngine, tt.noProcesses)
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
	_, err := Choose(noEngine, noJava)
	require.ErrorIs(t, err, noEngine)
	require.ErrorIs(t, err, noJava)
}

func TestProcessesWantJavaAndMaven(t *testing.T) {
	fakes := t.TempDir()
	t.Setenv("PATH", fakes)
	require.ErrorIs(t, Processes(t.Context()), process.ErrNoJava)
	script(t, fakes, "java", `echo 'openjdk version "17.0.1" 2021-10-19'`)
	require.ErrorIs(t, Processes(t.Context()), dist.ErrNoMaven)
	script(t, fakes, "mvn", "")
	require.NoError(t, Processes(t.Context()))
	script(t, fakes, "java", `echo 'openjdk version "11.0.1" 2021-10-19'`)
	require.ErrorContains(t, Processes(t.Context()), "is Java 11")
}

func script(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
}
