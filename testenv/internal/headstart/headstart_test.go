package headstart

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const main = "a.Main"

// java counts how often it was run, and writes the archive that it is told to.
type java struct {
	runs int
	fail error
}

func (j *java) run(_ context.Context, args []string, _, _ string) error {
	j.runs++
	if j.fail != nil {
		return j.fail
	}
	for _, arg := range args {
		if file, is := strings.CutPrefix(arg, "-XX:SharedArchiveFile="); is {
			return os.WriteFile(file, []byte("classes"), 0o644)
		}
	}
	return errors.New("no archive asked for")
}

func store(t *testing.T, j *java) (Store, Program) {
	t.Helper()
	dir := t.TempDir()
	jar := filepath.Join(dir, "a.jar")
	require.NoError(t, os.WriteFile(jar, nil, 0o644))
	return New(dir, "key", j.run), Program{Main: main, Java: "java", Build: "17.0.1", Jars: []string{jar}}
}

func TestArchiveIsMadeOnceOfTheFirstStartsClasses(t *testing.T) {
	j := &java{}
	s, p := store(t, j)
	path, err := s.Archive(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, path, "nothing is known of its classes")

	require.NoError(t, s.KeepClasses(main, []byte("java/lang/Object id: 0\nhalf a li")))
	list, there := s.Classes(main)
	require.True(t, there)
	text, err := os.ReadFile(list)
	require.NoError(t, err)
	require.Equal(t, "java/lang/Object id: 0\n", string(text))

	for range 2 {
		path, err = s.Archive(t.Context(), p)
		require.NoError(t, err)
		require.FileExists(t, path)
	}
	require.Equal(t, 1, j.runs)
}

func TestDamagedArchiveIsMadeAnew(t *testing.T) {
	j := &java{}
	s, p := store(t, j)
	require.NoError(t, s.KeepClasses(main, []byte("A\n")))
	path, err := s.Archive(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("cut"), 0o644))
	path, err = s.Archive(t.Context(), p)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "classes", string(text))
	require.Equal(t, 2, j.runs)
}

func TestArchiveIsOfOneBuildOfJavaAndOfTheJarsAsTheyAre(t *testing.T) {
	j := &java{}
	s, p := store(t, j)
	require.NoError(t, s.KeepClasses(main, []byte("A\n")))
	first, err := s.Archive(t.Context(), p)
	require.NoError(t, err)

	p.Build = "17.0.2"
	second, err := s.Archive(t.Context(), p)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	require.NoFileExists(t, first)

	require.NoError(t, os.Chtimes(p.Jars[0], time.Time{}, time.Now().Add(time.Hour)))
	third, err := s.Archive(t.Context(), p)
	require.NoError(t, err)
	require.NotEqual(t, second, third)
}

func TestArchiveThatJavaCannotMakeIsTriedOnceAndIsNoError(t *testing.T) {
	j := &java{fail: errors.New("exit status 1")}
	s, p := store(t, j)
	var said []string
	s.Progress = func(format string, _ ...any) { said = append(said, format) }
	require.NoError(t, s.KeepClasses(main, []byte("A\n")))
	for range 2 {
		path, err := s.Archive(t.Context(), p)
		require.NoError(t, err)
		require.Empty(t, path)
	}
	require.Equal(t, 1, j.runs)
	require.Contains(t, strings.Join(said, "\n"), "starts slower")
}

func TestDamagedListIsNotUsedAndKeptAnew(t *testing.T) {
	s, _ := store(t, &java{})
	require.NoError(t, s.KeepClasses(main, []byte("A\n")))
	list, _ := s.Classes(main)
	require.NoError(t, os.WriteFile(list, []byte("x"), 0o644))
	require.Empty(t, s.Lists())
	require.NoError(t, s.KeepClasses(main, []byte("B\n")))
	require.Equal(t, map[string]string{main: list}, s.Lists())
}

func TestSetupIsKeptByWhatItDependsOn(t *testing.T) {
	s, _ := store(t, &java{})
	made := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(made, "log-0"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(made, "meta"), []byte{0, 255}, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(made, "log-0", "checkpoint"), []byte("0"), 0o644))
	files, err := Files(made)
	require.NoError(t, err)

	require.NoError(t, s.KeepSetup("node 1", files))
	got, there := s.Setup("node 1")
	require.True(t, there)
	require.Equal(t, map[string][]byte{"meta": {0, 255}, "log-0/checkpoint": []byte("0")}, got)
	_, there = s.Setup("node 2")
	require.False(t, there)

	kept, err := filepath.Glob(s.path("setup-*.json"))
	require.NoError(t, err)
	require.NoError(t, os.Truncate(kept[0], 3))
	_, there = s.Setup("node 1")
	require.False(t, there, "it is damaged")
}
