package testenv

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// pieceLimit bounds the getting of one piece of evidence.
const pieceLimit = 5 * time.Second

// artifacts says that the go command was asked to keep what tests leave.
func artifacts() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// keeps says that a failure leaves a bundle.
func (e *Env) keeps() bool { return artifacts() || e.settings.Keep }

// gather writes the evidence: with -artifacts always, else after a failure if
// BROKERFAULT_KEEP=1 asks for it. Whatever comes of it is no failure of the test.
func (e *Env) gather() {
	e.t.Helper()
	if e.t.Failed() {
		e.t.Attr("replay", e.replay())
		e.t.Logf("replay: %s", e.replay())
		if !e.keeps() {
			e.t.Log("the evidence is kept with: go test -artifacts (or BROKERFAULT_KEEP=1)")
		}
	}
	if !artifacts() && (!e.settings.Keep || !e.t.Failed()) {
		return
	}
	dir, err := e.bundleDir()
	if err != nil {
		e.t.Logf("keep the evidence: %v", err)
		return
	}
	b := &evidence.Bundle{Dir: dir, Limit: e.affordable(pieceLimit)}
	e.addTimeline(b)
	e.addSnapshot(b)
	e.addClientLogs(b)
	for _, broker := range e.brokers {
		for _, n := range broker.nodes {
			e.addNode(b, n, broker.logFrom[n.Name()])
		}
	}
	if err := b.Summarize(e.bundleHead()); err != nil {
		e.t.Logf("keep the evidence: %v", err)
	}
	e.t.Logf("evidence: %s", dir)
}

func (e *Env) bundleDir() (string, error) {
	if artifacts() {
		return e.t.ArtifactDir(), nil
	}
	return os.MkdirTemp("", "brokerfault-evidence-")
}

func (e *Env) addTimeline(b *evidence.Bundle) {
	b.Add("timeline.txt", "what happened and when, on one clock: faults, waits, starts and ends of the broker",
		func(_ context.Context, w io.Writer) error {
			_, err := e.timeline.WriteTo(w)
			return err
		})
	b.Add("timeline.json", "the same for programs", func(_ context.Context, w io.Writer) error { return e.timeline.WriteJSON(w) })
}

func (e *Env) addSnapshot(b *evidence.Bundle) {
	if e.snapshot == nil {
		return
	}
	b.Add("goroutines.txt", "the goroutines of the test and its clients at the moment of the failure", writes(e.snapshot.goroutines))
	for _, t := range e.snapshot.threads {
		file, tells := "threads-"+t.node+".txt", "the threads of "+t.node+" at the moment of the failure"
		if t.err != nil {
			b.Miss(file, tells, t.err)
			continue
		}
		b.Add(file, tells, writes([]byte(t.text)))
	}
}

func (e *Env) addClientLogs(b *evidence.Bundle) {
	e.logsLock.Lock()
	logs := maps.Clone(e.logs)
	e.logsLock.Unlock()
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		b.Add(name+".log", "the log of "+name, writes([]byte(logs[name].String())))
	}
}

// addNode adds a node's logs from where the test's part of them begins, what it
// complains of, and its configuration.
func (e *Env) addNode(b *evidence.Bundle, n runtime.Node, from int64) {
	log, name := n.LogFile(), n.Name()
	at, hurt := e.logsAtFault[log]
	at = max(at, from)
	b.Add("broker-"+name+".log", "the log of "+name+", whole", copies(log, from))
	since := "since the start, for no fault was injected"
	if hurt {
		since = "since the first fault"
		b.Add("broker-"+name+"-since-fault.log", "the same, "+since, copies(log, at))
	}
	b.Add("broker-"+name+"-errors.txt", "the errors of "+name+" "+since+", each kind once with its number",
		func(_ context.Context, w io.Writer) error { return writeComplaints(w, log, at) })
	b.Add("config-"+name+".txt", "how "+name+" is started: JVM, flags, rendered files",
		func(_ context.Context, w io.Writer) error { return writeLaunch(w, n) })
}

func writes(text []byte) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

func copies(path string, from int64) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error { return copyFrom(w, path, from) }
}

func writeComplaints(w io.Writer, log string, faultAt int64) error {
	f, err := os.Open(log)
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := evidence.Complaints(f, faultAt)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "none: no errors, and no warnings with an exception")
		return err
	}
	for _, c := range all {
		known := ""
		if c.Before > 0 {
			known = fmt.Sprintf(" (and %dx before the fault)", c.Before)
		}
		if _, err := fmt.Fprintf(w, "%dx%s:\n%s\n\n", c.Count, known, c.Text); err != nil {
			return err
		}
	}
	return nil
}

// writeLaunch leaves out the keys that were made for the test: scanners of published
// artifacts take them for leaked ones.
func writeLaunch(w io.Writer, n runtime.Node) error {
	l := n.Launch()
	words := slices.Concat(l.Env, []string{"java"}, l.JVM, []string{"-cp", "...", l.Main.Class}, l.Main.Args)
	_, err := fmt.Fprintf(w, "runs on %s\n\n%s\n", n.Where(), strings.Join(words, " "))
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		content := l.Files[name]
		if strings.HasSuffix(name, ".key") {
			content = "(a private key, left out)\n"
		}
		_, e := fmt.Fprintf(w, "\n---- %s\n%s", name, content)
		err = errors.Join(err, e)
	}
	return err
}
