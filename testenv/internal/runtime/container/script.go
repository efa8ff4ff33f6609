package container

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
)

const (
	home = "/broker"
	// scriptFile lies outside of home, which belongs to the node.
	scriptFile = "/opt/brokerfault/start.sh"
	marks      = "/opt/brokerfault/setup-done-"
	// madeCopy is what the setup made, before the node has changed it.
	madeCopy = "/opt/brokerfault/made"
)

// prelude orders the class path by name, as the process runtime does: where
// two jars have the same class, both runtimes load the same one. A shell that
// is process 1 ignores TERM unless it has a trap; while a program of the setup
// runs, TERM is passed on to it. A mark in the container keeps a finished one
// from running again.
const prelude = `#!/bin/sh
set -u
cd ` + home + ` || exit 1
` + dist.ClassPath + `
setup=
trap '[ -n "$setup" ] && kill "$setup"; exit 143' TERM
once() {
	mark=$1
	shift
	[ -e "$mark" ] && return
	"$@" &
	setup=$!
	wait "$setup"
	status=$?
	setup=
	if [ "$status" -ne 0 ]; then
		echo "setup ended with exit status $status: $*" >&2
		exit "$status"
	fi
	: >"$mark"
}
`

// script starts a node: its setup, once, and then its main program with these
// flags, which takes the place of the shell and so gets the engine's signals. A
// copy of what the setup made is put where Keep finds it.
func script(l broker.Launch, flags []string) string {
	var b strings.Builder
	b.WriteString(prelude)
	for i, p := range l.Setup {
		fmt.Fprintf(&b, "once %s%d %s\n", marks, i+1, command(l, p))
	}
	if l.Makes != "" && len(l.Setup) > 0 {
		fmt.Fprintf(&b, "once %scopied cp -R '%s' %s\n", marks, path.Join(home, l.Makes), madeCopy)
	}
	fmt.Fprintf(&b, "trap - TERM\nexec %s\n", command(l, l.Main, flags...))
	return b.String()
}

// command sets the environment with env: a shell exports no name with a dot.
func command(l broker.Launch, p broker.Program, flags ...string) string {
	words := []string{"env"}
	quote := func(all ...string) {
		for _, s := range all {
			words = append(words, "'"+strings.ReplaceAll(s, "'", `'\''`)+"'")
		}
	}
	quote(l.Env...)
	words = append(words, "java")
	quote(l.JVM...)
	quote(flags...)
	words = append(words, "-cp", `"$classpath"`)
	quote(p.Class)
	quote(p.Args...)
	return strings.Join(words, " ")
}

// archive is what is copied to the root of a container before a start.
func archive(l broker.Launch, flags []string) (*bytes.Buffer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	now := time.Now()
	seen := map[string]bool{".": true, "/": true}
	var dir func(name string) error
	dir = func(name string) error {
		if seen[name] {
			return nil
		}
		seen[name] = true
		if err := dir(path.Dir(name)); err != nil {
			return err
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(name, "/") + "/", Mode: 0o755, ModTime: now})
	}
	file := func(name, content string, mode int64) error {
		if err := dir(path.Dir(name)); err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(name, "/"), Size: int64(len(content)), Mode: mode, ModTime: now}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err := w.Write([]byte(content))
		return err
	}
	if err := dir(home); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("write the file %q: it does not lie below the node's directory", name)
		}
		if err := file(path.Join(home, name), l.Files[name], 0o644); err != nil {
			return nil, fmt.Errorf("write the file %q: %w", name, err)
		}
	}
	if err := file(scriptFile, script(l, flags), 0o755); err != nil {
		return nil, fmt.Errorf("write the start script: %w", err)
	}
	return &b, w.Close()
}

// portKey is a port as the engine writes it.
func portKey(p broker.Port) string { return strconv.Itoa(p.Inside) + "/tcp" }
