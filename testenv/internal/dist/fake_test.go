package dist

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeMaven stands for mvn: it writes a line per run to Runs and three jars.
type fakeMaven struct {
	// runs is a file, so that other processes' runs count.
	runs string
	// before is called ahead of the copying, with the output directory.
	before func(ctx context.Context, dir string) error
	// spoil changes the bytes of one jar.
	spoil func(name string, body []byte) []byte
	// says is what goes to the log.
	says func(args []string) string
}

var fakeJars = []string{"a-1.jar", "b-1.jar", "c-1.jar"}

func (f *fakeMaven) run(ctx context.Context, args []string, _, log string) error {
	runs, err := os.OpenFile(f.runs, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer runs.Close()
	if _, err := fmt.Fprintln(runs, strings.Join(args, " ")); err != nil {
		return err
	}
	if f.says != nil {
		if err := os.WriteFile(log, []byte(f.says(args)), 0o644); err != nil {
			return err
		}
	}
	dir := ""
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, "-DoutputDirectory="); ok {
			dir = value
		}
	}
	if f.before != nil {
		if err := f.before(ctx, dir); err != nil {
			return err
		}
	}
	for _, name := range fakeJars {
		body := jarBytes(name)
		if f.spoil != nil {
			body = f.spoil(name, body)
		}
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeMaven) count(t *testing.T) int {
	t.Helper()
	body, err := os.ReadFile(f.runs)
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	return bytes.Count(body, []byte("\n"))
}

// jarBytes is a zip file with a stored entry, whose bytes are easy to damage.
func jarBytes(name string) []byte {
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	entry, err := w.CreateHeader(&zip.FileHeader{Name: "x/Main.class", Method: zip.Store})
	if err == nil {
		_, err = entry.Write([]byte("content of " + name + strings.Repeat(".", 2000)))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	return buffer.Bytes()
}

// progress gathers what a cache said.
type progress struct {
	mu    sync.Mutex
	lines []string
}

func (p *progress) add(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

func (p *progress) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// newCache is a cache on a fake Maven in a fresh directory.
func newCache(t *testing.T) (*Cache, *fakeMaven, *progress) {
	t.Helper()
	said, fake := &progress{}, &fakeMaven{runs: filepath.Join(t.TempDir(), "runs")}
	self, err := os.Executable()
	require.NoError(t, err)
	return &Cache{Dir: filepath.Join(t.TempDir(), "ca[c]he"), Maven: self, Run: fake.run, Progress: said.add, every: time.Hour}, fake, said
}

func pulsar302(t *testing.T) Bill {
	t.Helper()
	bill, err := Pulsar("3.0.2")
	require.NoError(t, err)
	return bill
}
