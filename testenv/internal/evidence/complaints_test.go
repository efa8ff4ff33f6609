package evidence

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestComplaintsOfEachBrokersLog(t *testing.T) {
	for name, test := range map[string]struct {
		log  string
		want []Complaint
	}{
		"kafka with log4j": {
			"2026-01-02 03:04:05,678 INFO  [main] A - fine\n2026-01-02 03:04:05,678 ERROR [main] A - bad\n",
			[]Complaint{{Text: "2026-01-02 03:04:05,678 ERROR [main] A - bad", Count: 1}},
		},
		"kafka with slf4j": {
			"2026-01-02T03:04:05.678Z [main] ERROR kafka.A - bad\n",
			[]Complaint{{Text: "2026-01-02T03:04:05.678Z [main] ERROR kafka.A - bad", Count: 1}},
		},
		"the same but for numbers": {
			"2026-01-02 03:04:05,678 ERROR [t-1] A - offset 17 of 0xdeadbeef1\n2026-01-02 03:04:06,000 ERROR [t-2] A - offset 4 of 0xdeadbeef2\n",
			[]Complaint{{Text: "2026-01-02 03:04:05,678 ERROR [t-1] A - offset 17 of 0xdeadbeef1", Count: 2}},
		},
		"a warning with an exception": {
			"2026-01-02 03:04:05,678 WARN  [t] A - closing\njava.io.IOException: reset\n\tat x.Y.z(Y.java:1)\nCaused by: a.BException: c\n",
			[]Complaint{{Text: "2026-01-02 03:04:05,678 WARN  [t] A - closing\njava.io.IOException: reset\nCaused by: a.BException: c", Count: 1}},
		},
		"a warning without one":  {"2026-01-02 03:04:05,678 WARN  [t] A - slow\n", nil},
		"the word in a message":  {"2026-01-02 03:04:05,678 INFO  [t] A - ERROR is a word\n", nil},
		"the same, other causes": {"2026-01-02 03:04:05,678 ERROR [t] A - x\na.BException: c\n2026-01-02 03:04:05,678 ERROR [t] A - x\na.DException: c\n", []Complaint{{Text: "2026-01-02 03:04:05,678 ERROR [t] A - x\na.BException: c", Count: 1}, {Text: "2026-01-02 03:04:05,678 ERROR [t] A - x\na.DException: c", Count: 1}}},
		"out of memory": {
			"2026-01-02 03:04:05,678 INFO  [t] A - x\nTerminating due to java.lang.OutOfMemoryError: Java heap space\n",
			[]Complaint{{Text: "Terminating due to java.lang.OutOfMemoryError: Java heap space", Count: 1}},
		},
		"no log":          {"", nil},
		"no last newline": {"2026-01-02 03:04:05,678 ERROR [main] A - bad", []Complaint{{Text: "2026-01-02 03:04:05,678 ERROR [main] A - bad", Count: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Complaints(strings.NewReader(test.log), 0)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestComplaintsFromBeforeTheFaultAreOnlyCounted(t *testing.T) {
	before := "2026-01-02 03:04:05,678 ERROR [t] A - one\n2026-01-02 03:04:05,678 ERROR [t] A - two\n"
	after := "2026-01-02 03:04:06,678 ERROR [t] A - two\n2026-01-02 03:04:06,678 ERROR [t] A - three\n"
	got, err := Complaints(strings.NewReader(before+after), int64(len(before)))
	require.NoError(t, err)
	require.Equal(t, []Complaint{
		{Text: "2026-01-02 03:04:06,678 ERROR [t] A - two", Count: 1, Before: 1},
		{Text: "2026-01-02 03:04:06,678 ERROR [t] A - three", Count: 1},
	}, got)
}

func TestHugeLinesAreClipped(t *testing.T) {
	got, err := Complaints(strings.NewReader("2026-01-02 03:04:05,678 ERROR [t] A - "+strings.Repeat("x", 1<<20)), 0)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Less(t, len(got[0].Text), 2*lineLimit)
}
