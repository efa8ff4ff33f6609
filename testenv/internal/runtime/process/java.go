package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// OldestJava is the oldest Java that runs every broker version here.
const OldestJava = 17

// ErrNoJava says that there is no Java fit for the brokers.
var ErrNoJava = errors.New("no java that runs the brokers")

// Java is a Java that runs the brokers.
type Java struct {
	Path string
	// Version is what it calls itself: "17.0.15".
	Version string
}

// FindJava finds java on the path and asks for its version.
func FindJava(ctx context.Context) (Java, error) {
	const remedy = "install Java 17 or newer (Debian: openjdk-17-jre-headless), put it first in PATH, or use containers (BROKERFAULT_BACKEND=container)"
	path, err := exec.LookPath("java")
	if err != nil {
		return Java{}, fmt.Errorf("%w: java is not in PATH: %s", ErrNoJava, remedy)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-version")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return Java{}, fmt.Errorf("%w: %s -version does not end: %w", ErrNoJava, path, context.Cause(ctx))
	}
	if err != nil {
		return Java{}, fmt.Errorf("%w: %s -version: %w: %s", ErrNoJava, path, err, strings.TrimSpace(string(out)))
	}
	version, major, ok := versionOf(string(out))
	if !ok {
		return Java{}, fmt.Errorf("%w: %s -version does not tell a version: %q", ErrNoJava, path, out)
	}
	if major < OldestJava {
		return Java{}, fmt.Errorf("%w: %s is Java %d: %s", ErrNoJava, path, major, remedy)
	}
	return Java{path, version}, nil
}

var versionLine = regexp.MustCompile(`version "((?:1\.)?(\d+)[^"]*)"`)

// versionOf reads `openjdk version "17.0.15"` and the old `java version "1.8.0_402"`.
func versionOf(out string) (version string, major int, ok bool) {
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return "", 0, false
	}
	major, err := strconv.Atoi(m[2])
	return m[1], major, err == nil
}

// javaBuild is what a java calls itself, to the very build.
func javaBuild(java string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, java, "-Xinternalversion").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ask %s for its build: %w", java, err)
	}
	return strings.TrimSpace(string(out)), nil
}
