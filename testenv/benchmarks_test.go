package testenv_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBenchmarkTableOfReadme(t *testing.T) {
	text, err := os.ReadFile("testdata/benchmarks.txt")
	require.NoError(t, err)
	compare(t, readme, "<!-- benchmarks:begin -->\n", "<!-- benchmarks:end -->", markdown(benchmarks(string(text))))
}

// processors ends a benchmark's name.
var processors = regexp.MustCompile(`-\d+$`)

// benchmarks are the results in what go test has printed, a row each.
func benchmarks(printed string) [][]string {
	rows := [][]string{{"benchmark", "figures"}}
	for line := range strings.Lines(printed) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		var figures []string
		for i := 2; i+1 < len(words); i += 2 {
			figures = append(figures, words[i]+" "+words[i+1])
		}
		name := strings.TrimPrefix(processors.ReplaceAllString(words[0], ""), "Benchmark")
		rows = append(rows, []string{"`" + name + "`", strings.Join(figures, ", ")})
	}
	return rows
}

func TestBenchmarksAreReadAsGoTestPrintsThem(t *testing.T) {
	require.Equal(t, [][]string{
		{"benchmark", "figures"},
		{"`Start/kafka-4.4.0`", "1.994 testenv-s, 0.3571 ratio-time"},
	}, benchmarks("goos: linux\nBenchmarkStart/kafka-4.4.0-2 \t 3\t 1.994 testenv-s\t 0.3571 ratio-time\nPASS\n"))
}
