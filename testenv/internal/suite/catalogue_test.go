package suite

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListingRunsNoTestsOfOtherPackages(t *testing.T) {
	dir := t.TempDir()
	const records = "t.Attr(\"case\", \"cases/one\")\n\tt.Skip(\"only lists\")"
	for name, text := range map[string]string{
		"go.mod":                  "module example.com/suite\n\ngo 1.26\n",
		"testenv/testenv.go":      "package testenv\n\nconst Any = 1\n",
		"testenv/testenv_test.go": "package testenv_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/suite/testenv\"\n)\n\nfunc TestOwn(t *testing.T) {\n\t_ = testenv.Any\n\tt.Attr(\"case\", \"cases/own\")\n}\n",
		"cases/a_test.go":         "package cases\n\nimport (\n\t\"testing\"\n\n\t\"example.com/suite/testenv\"\n)\n\nfunc TestCase(t *testing.T) {\n\t_ = testenv.Any\n\t" + records + "\n}\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Setenv("GOFLAGS", "")
	s := Suite{Dir: dir, Packages: []string{"./testenv", "./cases"}, Stderr: io.Discard}
	require.Equal(t, []string{"example.com/suite/cases"}, s.scenarios(t.Context()))
	c, err := s.List(t.Context())
	require.NoError(t, err)
	require.Len(t, c, 1)

	s.Packages = []string{"./nowhere"}
	require.Equal(t, []string{"./nowhere"}, s.scenarios(t.Context()), "what cannot be told is left to the run, which says why")
	s.Packages = []string{"./testenv"}
	require.Equal(t, []string{"./testenv"}, s.scenarios(t.Context()), "a case may record itself")
}
