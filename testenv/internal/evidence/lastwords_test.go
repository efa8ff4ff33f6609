package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLastWordsPutComplaintsFirst(t *testing.T) {
	for name, test := range map[string]struct{ log, want string }{
		"short":                  {"a\nb\n", "a\nb"},
		"long":                   {"a\nb\nc\nd\n", "c\nd"},
		"empty":                  {"", ""},
		"complaint at the end":   {"a\nb\n12:00 ERROR c\nd\n", "12:00 ERROR c\nd"},
		"complaint further up":   {"12:00 ERROR a\n\tat x\nCaused by: y\nb\nc\nd\n", "12:00 ERROR a\nCaused by: y\n...\nc\nd"},
		"complaints are bounded": {"ERROR 1\nERROR 2\nERROR 3\nc\nd\n", "ERROR 2\nERROR 3\n...\nc\nd"},
		"complaints said twice":  {"ERROR 1\nCaused by: y\nCaused by: y\nc\nd\n", "ERROR 1\nCaused by: y\n...\nc\nd"},
		"what was thrown":        {"java.io.IOException: x\n\tat y\nc\nd\n", "java.io.IOException: x\n...\nc\nd"},
		"class names are none":   {"INFO TheERRORHandler\nc\nd\n", "c\nd"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			require.NoError(t, os.WriteFile(path, []byte(test.log), 0o600))
			require.Equal(t, test.want, LastWords(path, 2))
		})
	}
}

func TestLastWordsOfAHugeLogAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("noise\n", 1<<20)+"end\n"), 0o600))
	require.Equal(t, "noise\nend", LastWords(path, 2))
}

func TestLogThatIsNotThereSaysSo(t *testing.T) {
	require.Contains(t, LastWords(filepath.Join(t.TempDir(), "log"), 2), "no such file")
}
