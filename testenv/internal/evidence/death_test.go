package evidence

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeathForWantOfMemoryIsSaid(t *testing.T) {
	const words = "INFO fine\nTerminating due to java.lang.OutOfMemoryError: Java heap space\n"
	for name, test := range map[string]struct {
		how, words, want string
	}{
		"heap":                  {"exit status 3", words, "it ran out of memory: Terminating due to java.lang.OutOfMemoryError: Java heap space"},
		"in a container":        {"exit status 3", "x " + words, "it ran out of memory: Terminating due to java.lang.OutOfMemoryError: Java heap space"},
		"caught by the program": {"exit status 1", "Caused by: java.lang.OutOfMemoryError: Cannot reserve 1024 bytes of direct buffer memory", "it ran out of memory: java.lang.OutOfMemoryError: Cannot reserve 1024 bytes of direct buffer memory"},
		"no memory to start":    {"exit status 1", "# There is insufficient memory for the Java Runtime Environment to continue.", "it ran out of memory: There is insufficient memory for the Java Runtime Environment to continue."},
		"without a word":        {"exit status 3", "INFO fine", "a JVM that runs out of memory ends so"},
		"killed":                {"signal: killed", "INFO fine", "it was killed from outside, by the kernel for want of memory if nobody else did it"},
		"killed in a container": {"exit status 137", "INFO fine", "it was killed from outside, by the kernel for want of memory if nobody else did it"},
		"told by the engine":    {"exit status 137: out of memory, killed by the kernel", "", ""},
		"a wrong setting":       {"exit status 1", "ERROR bad value", ""},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, Death(errors.New(test.how), test.words)) })
	}
	require.Empty(t, Death(nil, ""))
}
