package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/prefetch"
)

// fakeMaven is first in PATH, with a java. It notes each run and copies one jar, the
// smallest zip file there is, except of version 9.9.9.
const fakeMaven = `#!/bin/sh
echo run >>"$MAVEN_RUNS"
if grep -q 9.9.9 pom.xml; then
	echo '[ERROR] Could not find artifact org.apache.pulsar:pulsar-broker:jar:9.9.9'
	exit 1
fi
for a; do
	case $a in -DoutputDirectory=*) printf 'PK\005\006\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"${a#-DoutputDirectory=}/a.jar" ;; esac
done
`

// runs counts the runs of the fake Maven.
func fakeTools(t *testing.T) (runs func() int) {
	t.Helper()
	dir := t.TempDir()
	noted := filepath.Join(dir, "runs")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mvn"), []byte(fakeMaven), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "java"), []byte("#!/bin/sh\necho 'openjdk version \"17.0.15\"'\n"), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("MAVEN_RUNS", noted)
	t.Setenv("BROKERFAULT_CACHE", filepath.Join(dir, "cache"))
	return func() int {
		text, _ := os.ReadFile(noted)
		return bytes.Count(text, []byte("run\n"))
	}
}

// fetched runs prefetch and gives the items by what and of.
func fetched(t *testing.T, code int, args ...string) (items map[string]prefetch.Item, words string) {
	t.Helper()
	var out, progress bytes.Buffer
	require.Equal(t, code, Main(append([]string{"prefetch", "-json", "-runtime", "process"}, args...), &out, &progress), progress.String()+out.String())
	var r prefetch.Result
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	items = map[string]prefetch.Item{}
	for _, i := range r.Items {
		items[i.What+" of "+i.Of] = i
	}
	require.Len(t, items, len(r.Items))
	return items, progress.String()
}

func TestPrefetchedRunNeedsNoNetwork(t *testing.T) {
	cases(t)
	runs := fakeTools(t)
	args := []string{"-client", clientModule + "=v1.0.0", "-broker", "pulsar=3.0.2,4.2.4"}
	items, words := fetched(t, gate.ExitOK, args...)
	require.Len(t, items, 4)
	require.Contains(t, items, "go modules and tests of the versions of go.mod")
	require.Contains(t, items, "go modules and tests of "+clientModule+" v1.0.0")
	require.DirExists(t, items["jars of pulsar 4.2.4"].Where)
	require.EqualValues(t, 22, items["jars of pulsar 4.2.4"].Bytes)
	require.Equal(t, 2, runs())
	require.Contains(t, words, "jars of pulsar 3.0.2 (1 of 2)")
	require.Contains(t, words, "Maven has copied the jars of pulsar 3.0.2")

	t.Setenv("GOPROXY", "off")
	_, _ = fetched(t, gate.ExitOK, args...)
	require.Equal(t, 2, runs(), "what is there is not asked for again")
	var out, progress bytes.Buffer
	require.Equal(t, gate.ExitFailed, Main([]string{"run", "-json", "-client", clientModule + "=v1.0.0"}, &out, &progress), progress.String())
	require.Contains(t, out.String(), `"client_version": "v1.0.0"`)

	items, words = fetched(t, gate.ExitEnvironment, "-client", clientModule+"=v1.3.0", "-broker", "pulsar=3.0.2")
	require.Contains(t, items["go modules and tests of "+clientModule+" v1.3.0"].Error, "go get")
	require.Contains(t, words, "GOPROXY=off", "the go command's own words")
}

func TestPrefetchGetsWhatTheSettingsAndTheCasesName(t *testing.T) {
	cases(t)
	text, err := os.ReadFile("x_test.go")
	require.NoError(t, err)
	listed := strings.Replace(string(text), `{"client":"v1.2.0"}`, `{"client":"v1.2.0","broker":"4.2.4"}`, 1)
	require.NoError(t, os.WriteFile("x_test.go", []byte(listed), 0o600))
	fakeTools(t)
	t.Setenv("BROKERFAULT_KAFKA", "4.4.0")
	items, _ := fetched(t, gate.ExitOK)
	for _, broker := range []string{"kafka 4.4.0", "pulsar 3.0.2", "pulsar 4.2.4", "rocketmq 5.5.1"} {
		require.Contains(t, items, "jars of "+broker)
	}
	require.Len(t, items, 5)
	items, _ = fetched(t, gate.ExitOK, "-all")
	require.Contains(t, items, "go modules and tests of "+clientModule+" v1.1.0")
	require.Contains(t, items, "go modules and tests of "+clientModule+" v1.2.0")
	require.Len(t, items, 7)
	items, _ = fetched(t, gate.ExitOK, "-all", "-broker", "kafka=4.4.0")
	require.Len(t, items, 4)
}

func TestPrefetchGoesOnAfterAFailureAndGivesMavensWords(t *testing.T) {
	cases(t)
	fakeTools(t)
	items, _ := fetched(t, gate.ExitEnvironment, "-broker", "pulsar=9.9.9", "-broker", "rocketmq=5.5.1")
	require.Contains(t, items["jars of pulsar 9.9.9"].Error, "Could not find artifact org.apache.pulsar:pulsar-broker:jar:9.9.9")
	require.Empty(t, items["jars of rocketmq 5.5.1"].Error)

	var out, progress bytes.Buffer
	require.Equal(t, gate.ExitEnvironment, Main([]string{"prefetch", "-runtime", "process", "-broker", "pulsar=9.9.9"}, &out, &progress))
	require.Contains(t, out.String(), "jars of pulsar 9.9.9: get the jars of pulsar 9.9.9: maven: ")
	require.Contains(t, out.String(), "1 of 2 are there")
	require.Equal(t, exitUsage, Main([]string{"prefetch", "-broker", "redis=7"}, &out, &progress))
	t.Setenv("BROKERFAULT_SCALE", "fast")
	require.Equal(t, gate.ExitEnvironment, Main([]string{"prefetch"}, &out, &progress))
	require.Contains(t, progress.String(), "BROKERFAULT_SCALE")
}
