package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkout makes as much of one in dir as new looks at, and enters it.
func checkout(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"go.mod":                  "module example.com/fork\n\ngo 1.26\n",
		"testenv/case.go":         "package testenv\n",
		"pulsarquota/old_test.go": "package pulsarquota\n\nconst old = \"pulsarquota/old\"\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
}

func TestNewWritesIntoTheCheckoutAndTellsWhatIsNext(t *testing.T) {
	checkout(t, t.TempDir())
	t.Chdir("testenv") // from anywhere in it
	args := []string{"new", "-package", "pulsarquota", "-name", "twice-full", "-issue", "https://example.com/1", "-claim", "it comes back twice"}
	var out, words bytes.Buffer
	require.Zero(t, Main(args, &out, &words), words.String())
	text, err := os.ReadFile("../pulsarquota/twicefull_test.go")
	require.NoError(t, err)
	require.Contains(t, string(text), `"example.com/fork/testenv"`)
	require.Contains(t, string(text), `"it comes back twice"`)
	for _, step := range []string{
		"pulsarquota/twice-full is in pulsarquota/twicefull_test.go",
		"go test -count=1 -v -run '^TestTwiceFull$' ./pulsarquota",
		"go tool faultgate controls -case '^pulsarquota/twice-full$'",
		"go test ./testenv -run Table -update",
	} {
		require.Contains(t, out.String(), step)
	}

	require.Equal(t, exitUsage, Main(args, &out, &words))
	require.Equal(t, "faultgate: the case pulsarquota/twice-full is there already, in twicefull_test.go\n", words.String())
}

func TestNewDoesNotWriteIntoTheModuleCache(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("GOMODCACHE", cache)
	checkout(t, filepath.Join(cache, "example.com", "fork@v1.0.0"))
	var out, words bytes.Buffer
	require.Equal(t, exitUsage, Main([]string{"new", "-package", "pulsarquota", "-name", "late", "-issue", "https://example.com/1"}, &out, &words))
	require.Contains(t, words.String(), "is in the module cache, which is read-only: run this in a clone of the suite's repository")
	require.NoFileExists(t, "pulsarquota/late_test.go")
}

func TestNewWithoutAModuleSaysWhereToRunIt(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "")
	var out, words bytes.Buffer
	require.Equal(t, exitUsage, Main([]string{"new", "-package", "pulsarquota", "-name", "late", "-issue", "https://example.com/1"}, &out, &words))
	require.Contains(t, words.String(), "there is no go.mod here or above")
	require.Equal(t, exitUsage, Main([]string{"new", "-name", "late"}, &out, &words))
	require.Contains(t, words.String(), "--package, --name and --issue are all needed")
}
