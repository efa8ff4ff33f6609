package gate

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// The results that go test gives a test, and the one of a test that it gives none.
const (
	passed  = "pass"
	failed  = "fail"
	skipped = "skip"
	cutOff  = "cut off"
)

// tailLines is how much of a failed test's output is kept.
const tailLines = 40

type key struct{ pkg, name string }

// test is a test, or with an empty name in its key a package.
type test struct {
	key
	result      string
	elapsed     float64
	attrs       map[string]string
	artifacts   string
	output      []string
	died        string
	refused     string // the line before the usage that package flag prints
	failedBuild string
}

// Collector takes a go test -json stream. The zero value is ready. Write and
// Report must not be called at the same time.
type Collector struct {
	// Finished, if set, is told about each test that ends and each package
	// that does not build.
	Finished func(Progress)

	began  time.Time     // the zero value until the first Begin
	built  time.Duration // from there to the first test
	rest   []byte
	tests  map[key]*test
	order  []*test
	builds map[string][]string
	stray  []string
}

// Silent says that there was nothing in the stream.
func (c *Collector) Silent() bool {
	return len(c.order) == 0 && len(c.stray) == 0 && len(c.builds) == 0
}

// Begin says that go test starts now; until a first test runs, it compiles.
func (c *Collector) Begin() { c.began = time.Now() }

// Progress is a test that ended.
type Progress struct {
	Package, Test, Result string
	Elapsed               float64
	// Cell is nil if the test is no case.
	Cell *Cell
}

// Write takes any piece of the stream; it never fails.
func (c *Collector) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	for {
		line, rest, found := bytes.Cut(c.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		c.line(line)
		c.rest = rest
	}
}

func (c *Collector) line(line []byte) {
	var e event
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		c.stray = append(c.stray, string(line))
		return
	}
	if e.Package == "" {
		if e.Action == "build-output" {
			if c.builds == nil {
				c.builds = map[string][]string{}
			}
			c.builds[e.ImportPath] = append(c.builds[e.ImportPath], strings.TrimRight(e.Output, "\n"))
		}
		return
	}
	c.event(c.test(key{e.Package, e.Test}), e)
}

func (c *Collector) test(k key) *test {
	if t, is := c.tests[k]; is {
		return t
	}
	if c.tests == nil {
		c.tests = map[key]*test{}
	}
	t := &test{key: k, attrs: map[string]string{}}
	c.tests[k] = t
	c.order = append(c.order, t)
	return t
}

// again begins a new run of a test that has ended.
func (c *Collector) again(k key) {
	delete(c.tests, k)
	c.test(k)
}

func (c *Collector) event(t *test, e event) {
	switch e.Action {
	case "run":
		if t.result != "" { // -count: it is run again
			c.again(t.key)
		}
		if c.built == 0 && !c.began.IsZero() {
			c.built = time.Since(c.began)
		}
	case "attr":
		t.attrs[e.Key] = e.Value
	case "artifacts":
		t.artifacts = e.Path
	case "output":
		t.say(strings.TrimRight(e.Output, "\n"))
	case passed, failed, skipped:
		t.result, t.elapsed, t.failedBuild = e.Action, e.Elapsed, e.FailedBuild
		if t.failedBuild == "" && t.name == "" {
			return
		}
		if c.Finished != nil {
			p := Progress{Package: t.pkg, Test: t.name, Result: t.result, Elapsed: t.elapsed}
			if t.attrs["case"] != "" {
				cell, _ := c.cell(t)
				p.Cell = &cell
			}
			c.Finished(p)
		}
	}
}

func (t *test) say(line string) {
	if strings.HasPrefix(line, "=== ") {
		return
	}
	// The first line that tells of the process's end is the cause; a stack follows.
	if t.died == "" && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "signal: ")) {
		t.died = line
	}
	if t.name == "" && strings.HasPrefix(line, "Usage of ") && len(t.output) > 0 {
		t.refused = t.output[len(t.output)-1]
	}
	if t.output = append(t.output, line); len(t.output) > tailLines {
		t.output = slices.Delete(t.output, 0, 1)
	}
}

// tail is the last output of the test, after the line that tells how it died, if that is not part of it.
func (t *test) tail() string {
	lines := t.output
	if t.died != "" && !slices.Contains(lines, t.died) {
		lines = append([]string{t.died, "..."}, lines...)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
