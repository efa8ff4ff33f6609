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

// FindJava finds java on the path and asks for its version, which is returned in
// java's own words.
func FindJava(ctx context.Context) (path, version string, err error) {
	const remedy = "install Java 17 or newer (Debian: openjdk-17-jre-headless), put it first in PATH, or use containers (BROKERFAULT_BACKEND=container)"
	path, err = exec.LookPath("java")
	if err != nil {
		return "", "", fmt.Errorf("%w: java is not in PATH: %s", ErrNoJava, remedy)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-version")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("%w: %s -version: %w: %s", ErrNoJava, path, err, strings.TrimSpace(string(out)))
	}
	major, ok := majorVersion(string(out))
	if !ok {
		return "", "", fmt.Errorf("%w: %s -version does not tell a version: %q", ErrNoJava, path, out)
	}
	if major < OldestJava {
		return "", "", fmt.Errorf("%w: %s is Java %d: %s", ErrNoJava, path, major, remedy)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return path, first, nil
}

var versionLine = regexp.MustCompile(`version "(?:1\.)?(\d+)`)

// majorVersion reads `openjdk version "17.0.15"` and the old `java version "1.8.0_402"`.
func majorVersion(out string) (int, bool) {
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return 0, false
	}
	major, err := strconv.Atoi(m[1])
	return major, err == nil
}
