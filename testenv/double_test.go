package testenv

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// double stands in for the test that an Env reports to, so that what it
// reports can be read. What it does not replace is the real test's.
type double struct {
	testing.TB

	mu              sync.Mutex
	attrs           map[string]string
	log             []string
	cleanups        []func()
	failed, skipped bool
}

// scenario runs one on a double to its end, clean-up included. A panic of the
// scenario is returned.
func scenario(t testing.TB, run func(tb testing.TB)) (d *double, panicked any) {
	t.Helper()
	d = &double{TB: t, attrs: map[string]string{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// As package testing does it: the clean-up of a test that panics comes before the
		// panic is seen and the test has failed.
		defer func() {
			if panicked = recover(); panicked != nil {
				d.Fail()
			}
		}()
		defer func() {
			for _, f := range slices.Backward(d.cleanups) {
				f()
			}
		}()
		run(d)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the scenario did not end")
	}
	return d, panicked
}

func (d *double) Helper()                           {}
func (d *double) Name() string                      { return "double" }
func (d *double) Cleanup(f func())                  { d.cleanups = append(d.cleanups, f) }
func (d *double) Log(args ...any)                   { d.note(fmt.Sprint(args...)) }
func (d *double) Logf(format string, args ...any)   { d.note(fmt.Sprintf(format, args...)) }
func (d *double) Error(args ...any)                 { d.Log(args...); d.Fail() }
func (d *double) Errorf(format string, args ...any) { d.Logf(format, args...); d.Fail() }
func (d *double) Fatal(args ...any)                 { d.Error(args...); runtime.Goexit() }
func (d *double) Fatalf(format string, args ...any) { d.Errorf(format, args...); runtime.Goexit() }
func (d *double) FailNow()                          { d.Fail(); runtime.Goexit() }
func (d *double) Skip(args ...any)                  { d.Log(args...); d.SkipNow() }
func (d *double) Skipf(format string, args ...any)  { d.Logf(format, args...); d.SkipNow() }

func (d *double) SkipNow() {
	d.mu.Lock()
	d.skipped = true
	d.mu.Unlock()
	runtime.Goexit()
}

func (d *double) Fail() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed = true
}

func (d *double) Failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

func (d *double) Skipped() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.skipped
}

func (d *double) Attr(key, value string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attrs[key] = value
}

func (d *double) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, line)
}

func (d *double) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.log, "\n")
}

func (d *double) requireVerdict(t testing.TB, want string) {
	t.Helper()
	require.Equal(t, want, d.attrs["verdict"], d.text())
}
