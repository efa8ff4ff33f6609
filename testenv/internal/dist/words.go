package dist

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

const (
	maxLines = 3
	maxLine  = 500
)

var (
	helpLink = regexp.MustCompile(` -> \[Help \d+\]$`)
	// noise is what Maven prints as an error after each failure.
	noise = []string{"To see the full stack trace", "Re-run Maven", "For more information", "[Help ", "After correcting the problems", "The build could not read", "The project ", "Some problems were encountered"}
)

// errorLines returns the first meaningful [ERROR] lines of Maven's output.
func errorLines(out []byte) string {
	var lines []string
	for line := range bytes.Lines(out) {
		text, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "[ERROR]")
		if !ok {
			// Debian's launcher and the JVM complain without a level.
			text, ok = strings.CutPrefix(strings.TrimSpace(string(line)), "Error:")
		}
		// Problems with a POM come with the level twice.
		text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "[ERROR]"))
		text = helpLink.ReplaceAllString(text, "")
		if !ok || text == "" || isNoise(text) {
			continue
		}
		// Maven repeats itself, at times with more at the end.
		if last := len(lines) - 1; last >= 0 && strings.HasPrefix(text, lines[last]) {
			lines[last] = text
		} else {
			lines = append(lines, text)
		}
	}
	lines = lines[:min(len(lines), maxLines)]
	for i := range lines {
		lines[i] = shorten(lines[i])
	}
	return strings.Join(lines, " | ")
}

func isNoise(text string) bool {
	for _, start := range noise {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// lastLines returns the end of Maven's output.
func lastLines(out []byte) string {
	var lines []string
	for line := range bytes.Lines(out) {
		if text := strings.TrimSpace(string(line)); text != "" {
			lines = append(lines, shorten(text))
		}
	}
	return strings.Join(lines[max(0, len(lines)-maxLines):], " | ")
}

func shorten(text string) string {
	if len(text) > maxLine {
		return strings.ToValidUTF8(text[:maxLine], "") + "..."
	}
	return text
}

// cachedFailure reports whether Maven did not ask the repository because it
// remembers an earlier answer.
func cachedFailure(out []byte) bool {
	return bytes.Contains(out, []byte("until the update interval of")) || bytes.Contains(out, []byte("during a previous attempt"))
}

// advice says what the user can do about Maven's words.
func (c *Cache) advice(words string) string {
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(words, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("No space left on device", "Disk quota exceeded"):
		return fmt.Sprintf("make room in %q and in Maven's local repository, or name another cache directory with BROKERFAULT_CACHE", c.Dir)
	case has("Checksum validation failed"):
		return "a download arrived damaged: run again, and look at the mirror or proxy of Maven's settings.xml if it stays"
	case has("Connection refused", "Connect to ", "Connection reset", "timed out", "Unknown host", "UnknownHost", "Network is unreachable", "No route to host", "name resolution", "offline mode"):
		return "Maven needs its repository: check the network, and proxy and mirrors in Maven's settings.xml"
	case has("Could not find artifact", "was not found in", "Could not find "):
		return "the repositories of Maven's settings.xml do not have this version, or not all of it: ask for another one"
	case has("Could not transfer"):
		return "the repository of Maven's settings.xml did not deliver: check it, and run again"
	case has("JAVA_HOME"):
		return "check that mvn runs on this machine"
	default:
		return "see the log"
	}
}
