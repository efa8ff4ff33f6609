package container

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
)

func TestCommandKeepsEveryWordAsItIs(t *testing.T) {
	bin := t.TempDir()
	fake := "#!/bin/sh\nfor a in \"$@\"; do printf '<%s>\\n' \"$a\"; done\ntr '\\0' '\\n' </proc/$$/environ | grep '^ODD'\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "java"), []byte(fake), 0o755))
	l := broker.Launch{
		JVM: []string{"-Da=it's", "-Db=$HOME `id` \"x\""},
		Env: []string{"ODD.name=a b", "ODD=$HOME'"},
	}
	line := command(l, broker.Program{Class: "a.B$C", Args: []string{"", "two words", "*", "back\\slash", "line\nbreak"}})
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "classpath=/lib/a.jar:/lib/b.jar\n"+line)
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), strings.Join([]string{
		"<-Da=it's>", "<-Db=$HOME `id` \"x\">", "<-cp>", "</lib/a.jar:/lib/b.jar>",
		"<a.B$C>", "<>", "<two words>", "<*>", "<back\\slash>", "<line\nbreak>",
	}, "\n"))
	require.Contains(t, string(out), "ODD=$HOME'\n")
	require.Contains(t, string(out), "ODD.name=a b\n")
}

func TestArchiveHasDirectoriesBeforeTheirFiles(t *testing.T) {
	b, err := archive(broker.Launch{Files: map[string]string{"conf/deep/a": "1", "b": "2"}}, nil)
	require.NoError(t, err)
	var names []string
	for r := tar.NewReader(b); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		names = append(names, h.Name)
	}
	require.Equal(t, []string{
		"broker/", "broker/b", "broker/conf/", "broker/conf/deep/", "broker/conf/deep/a",
		"opt/", "opt/brokerfault/", "opt/brokerfault/start.sh",
	}, names)
}

func TestArchiveRefusesFilesOutsideTheNodesDirectory(t *testing.T) {
	for _, name := range []string{"../x", "/etc/x", ""} {
		_, err := archive(broker.Launch{Files: map[string]string{name: ""}}, nil)
		require.ErrorContains(t, err, "does not lie below")
	}
}
