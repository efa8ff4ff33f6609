package dist

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	childDir  = "BROKERFAULT_TEST_DIST_DIR"
	childRuns = "BROKERFAULT_TEST_DIST_RUNS"
)

// slowly gives the others time to arrive while the first one is at work. It is
// no condition of success: without it the test would pass more easily.
func slowly(ctx context.Context, _ string) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(300 * time.Millisecond):
		return nil
	}
}

func TestGoroutinesAtOnceMakeItOnce(t *testing.T) {
	cache, fake, said := newCache(t)
	fake.before = slowly
	bill := pulsar302(t)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = cache.Jars(t.Context(), bill) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, 1, fake.count(t))
	require.Contains(t, said.text(), "waiting for another process to get the jars of pulsar 3.0.2")
}

func TestProcessesAtOnceMakeItOnce(t *testing.T) {
	dir, runs := t.TempDir(), filepath.Join(t.TempDir(), "runs")
	self, err := os.Executable()
	require.NoError(t, err)
	var children []*exec.Cmd
	var outputs []*bytes.Buffer
	for range 4 {
		child := exec.CommandContext(t.Context(), self, "-test.run=^TestChildMakesJars$", "-test.v")
		child.Env = append(os.Environ(), childDir+"="+dir, childRuns+"="+runs)
		output := &bytes.Buffer{}
		child.Stdout, child.Stderr = output, output
		require.NoError(t, child.Start())
		children, outputs = append(children, child), append(outputs, output)
	}
	for i, child := range children {
		require.NoError(t, child.Wait(), outputs[i].String())
		require.Contains(t, outputs[i].String(), "child has its jars")
	}
	require.Equal(t, 1, (&fakeMaven{runs: runs}).count(t))
}

func TestChildMakesJars(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("runs only as the child of TestProcessesAtOnceMakeItOnce")
	}
	cache, _, _ := newCache(t)
	fake := &fakeMaven{runs: os.Getenv(childRuns), before: slowly}
	cache.Dir, cache.Run = dir, fake.run
	jars, err := cache.Jars(t.Context(), pulsar302(t))
	require.NoError(t, err)
	require.Equal(t, fakeJars, jars.Names)
	t.Log("child has its jars")
}

func TestWaitingForAnotherProcessObeysTheContext(t *testing.T) {
	cache, _, said := newCache(t)
	bill := pulsar302(t)
	require.NoError(t, os.MkdirAll(cache.jarsDir(), 0o755))
	unlock, err := cache.lock(t.Context(), bill.Key()+".lock", "nobody")
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = cache.Jars(ctx, bill)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "wait for another process to get the jars of pulsar 3.0.2")
	require.Contains(t, said.text(), "waiting for another process")
}

func TestMavenRunsForOneBillAtATime(t *testing.T) {
	cache, fake, _ := newCache(t)
	var mu sync.Mutex
	fake.before = func(ctx context.Context, dir string) error {
		if !mu.TryLock() {
			t.Error("two Mavens share a local repository")
			return nil
		}
		defer mu.Unlock()
		return slowly(ctx, dir)
	}
	kafka, err := Kafka("4.4.0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	var errs [2]error
	for i, bill := range []Bill{kafka, pulsar302(t)} {
		wg.Go(func() { _, errs[i] = cache.Jars(t.Context(), bill) })
	}
	wg.Wait()
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	require.Equal(t, 2, fake.count(t))
}
