package evidence

import (
	"regexp"
	"strings"
)

var (
	outOfMemory = regexp.MustCompile(`(Terminating|Aborting) due to java\.lang\.OutOfMemoryError.*|java\.lang\.OutOfMemoryError: .*|There is insufficient memory for the Java Runtime.*`)
	killed      = regexp.MustCompile(`^(signal: killed|exit status 137)$`)
)

// Death says in words what a JVM's end and its last words tell about the machine, or
// nothing: that it ran out of memory, or that somebody else ended it.
func Death(how error, lastWords string) string {
	if line := outOfMemory.FindString(lastWords); line != "" {
		return "it ran out of memory: " + strings.TrimSpace(line)
	}
	switch {
	case how == nil:
		return ""
	// What -XX:+ExitOnOutOfMemoryError ends a JVM with.
	case how.Error() == "exit status 3":
		return "a JVM that runs out of memory ends so"
	case killed.MatchString(how.Error()):
		return "it was killed from outside, by the kernel for want of memory if nobody else did it"
	}
	return ""
}
