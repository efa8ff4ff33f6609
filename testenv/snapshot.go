package testenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/poll"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// snapshot is what shows only while a failure is fresh: the clean-up ends the very
// threads and goroutines that hang.
type snapshot struct {
	goroutines []byte
	threads    []threads
}

// threads are those of one node's JVM, or why there are none.
type threads struct {
	node, text string
	err        error
}

// dumpLimit is ample for a JVM that is not paused: it writes its threads at once.
const dumpLimit = 3 * time.Second

// dumpEnd is what a JVM writes after its last thread.
const dumpEnd = "JNI global ref"

// preserve takes the snapshot, once, if there will be a bundle for it.
func (e *Env) preserve() {
	e.t.Helper()
	if e.snapshot != nil || !e.keeps() {
		return
	}
	e.snapshot = &snapshot{}
	var goroutines bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&goroutines, 2); err == nil {
		e.snapshot.goroutines = goroutines.Bytes()
	}
	var nodes []runtime.Node
	for _, b := range e.brokers {
		nodes = append(nodes, b.nodes...)
	}
	e.snapshot.threads = make([]threads, len(nodes))
	ctx, cancel := context.WithTimeout(context.Background(), e.affordable(2*dumpLimit))
	defer cancel()
	var dumps sync.WaitGroup
	for i, n := range nodes {
		dumps.Go(func() {
			text, err := dumpThreads(ctx, n)
			e.snapshot.threads[i] = threads{n.Name(), text, err}
		})
	}
	dumps.Wait()
}

// dumpThreads makes a JVM write its threads to its log, and returns them.
func dumpThreads(ctx context.Context, n runtime.Node) (string, error) {
	before := size(n.LogFile())
	var text string
	_, err := poll.Until(ctx, poll.Options{Budget: dumpLimit}, AtOnce(n.DumpThreads))
	if err == nil {
		_, err = poll.Until(ctx, poll.Options{Budget: dumpLimit}, func(context.Context) error {
			whole, err := readFrom(n.LogFile(), before)
			if err != nil {
				return err
			}
			_, dump, begun := strings.Cut(whole, "Full thread dump")
			if !begun || !strings.Contains(dump, dumpEnd) {
				return fmt.Errorf("%s wrote no whole thread dump", n.Name())
			}
			text = "Full thread dump" + dump
			return nil
		})
	}
	var once *poll.Ended
	if errors.As(err, &once) {
		err = once.Why
	}
	return text, err
}

// readFrom reads a file from an offset on.
func readFrom(path string, offset int64) (string, error) {
	var text strings.Builder
	err := copyFrom(&text, path, offset)
	return text.String(), err
}

// copyFrom copies a file from an offset on.
func copyFrom(w io.Writer, path string, offset int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
