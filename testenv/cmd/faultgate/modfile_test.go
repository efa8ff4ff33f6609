package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

const clientModule = "example.com/client"

// proxy makes a module proxy of files with versions of example.com/client, oldest
// first. All but the first have a package newer.
func proxy(t *testing.T, versions ...string) {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, clientModule, "@v")
	require.NoError(t, os.MkdirAll(at, 0o755))
	gomod := "module " + clientModule + "\n\ngo 1.26\n"
	require.NoError(t, os.WriteFile(filepath.Join(at, "list"), []byte(strings.Join(versions, "\n")), 0o600))
	for i, v := range versions {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		files := map[string]string{
			"go.mod":    gomod,
			"client.go": "package client\n\nconst Version = \"" + v + "\"\n",
		}
		if i > 0 {
			files["newer/newer.go"] = "package newer\n"
		}
		for name, text := range files {
			f, err := z.Create(clientModule + "@" + v + "/" + name)
			require.NoError(t, err)
			_, err = f.Write([]byte(text))
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		for ext, text := range map[string]string{
			".info": `{"Version":"` + v + `"}`, ".mod": gomod, ".zip": b.String(),
		} {
			require.NoError(t, os.WriteFile(filepath.Join(at, v+ext), []byte(text), 0o600))
		}
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(dir))
	t.Setenv("GONOSUMDB", "example.com")
	t.Setenv("GOMODCACHE", t.TempDir())
}

const tellsItsClient = `package cases

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/client"
)

func TestCase(t *testing.T) {
	t.Attr("case", "cases/one")
	t.Attr("client", "example.com/client")
	t.Attr("client_version", client.Version)
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "example.com/client").Output()
	if err != nil {
		t.Fatal(err, os.Getenv("GOFLAGS"))
	}
	t.Attr("reason", strings.TrimSpace(string(out)))
	t.Attr("verdict", "recovered")
}
`

func TestRunTakesAnotherClientAndLeavesTheCheckoutAsItIs(t *testing.T) {
	proxy(t, "v1.0.0", "v1.1.0")
	module(t, tellsItsClient)
	t.Setenv("GOFLAGS", "-modcacherw")
	const gomod = "module example.com/pulsarcases\n\ngo 1.26\n\nrequire example.com/client v1.1.0\n"
	require.NoError(t, os.WriteFile("go.mod", []byte(gomod), 0o600))

	require.NoError(t, exec.CommandContext(t.Context(), "go", "mod", "tidy").Run())
	sum, err := os.ReadFile("go.sum")
	require.NoError(t, err)

	var out, progress bytes.Buffer
	code := Main([]string{"run", "-json", "-client", clientModule + "=v1.0.0"}, &out, &progress)
	require.Equal(t, gate.ExitOK, code, progress.String()+out.String())
	var r gate.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Len(t, r.Cells, 1)
	assert.Equal(t, "v1.0.0", r.Cells[0].ClientVersion)
	assert.Equal(t, "v1.0.0", r.Cells[0].Reason, "the go command that a test runs sees the same version")
	after, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	assert.Equal(t, gomod, string(after))
	left, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	assert.Equal(t, string(sum), string(left))

	assert.Equal(t, gate.ExitEnvironment, Main([]string{"run", "-client", clientModule + "=v9.9.9"}, &out, &progress))
	assert.Contains(t, progress.String(), "v9.9.9")
}

func TestReleaseThatLacksAPackageIsNotRunAsANewerOne(t *testing.T) {
	proxy(t, "v1.0.0", "v1.1.0")
	module(t, strings.Replace(tellsItsClient, `"example.com/client"`, "\"example.com/client\"\n\t_ \"example.com/client/newer\"", 1))
	t.Setenv("GOFLAGS", "-modcacherw")
	const gomod = "module example.com/pulsarcases\n\ngo 1.26\n\nrequire example.com/client v1.1.0\n"
	require.NoError(t, os.WriteFile("go.mod", []byte(gomod), 0o600))
	require.NoError(t, exec.CommandContext(t.Context(), "go", "mod", "tidy").Run())

	var out, progress bytes.Buffer
	require.Equal(t, gate.ExitEnvironment, Main([]string{"run", "-client", clientModule + "=v1.0.0"}, &out, &progress), out.String())
	assert.Contains(t, progress.String()+out.String(), "v1.0.0 was asked for, but v1.1.0 is what the go command took")
	assert.NotContains(t, out.String(), "recovered")
}
