package dist

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

func TestSecondUseDoesNotRunMaven(t *testing.T) {
	cache, fake, _ := newCache(t)
	bill := pulsar302(t)
	jars, err := cache.Jars(t.Context(), bill)
	require.NoError(t, err)
	require.Equal(t, Jars{Dir: filepath.Join(cache.Dir, "jars", bill.Key()), Names: fakeJars, Key: bill.Key()}, jars)
	require.FileExists(t, filepath.Join(jars.Dir, "b-1.jar"))

	again, err := cache.Jars(t.Context(), bill)
	require.NoError(t, err)
	require.Equal(t, jars, again)
	require.Equal(t, 1, fake.count(t))
	requireNoParts(t, cache)

	run, err := os.ReadFile(fake.runs)
	require.NoError(t, err)
	require.Contains(t, string(run), " -B -C ", "Maven must treat a wrong checksum as an error")
	pom, err := os.ReadFile(filepath.Join(jars.Dir, "pom.xml"))
	require.NoError(t, err)
	require.Equal(t, bill.POM(), pom)
}

func TestBillsDoNotShareADirectory(t *testing.T) {
	cache, fake, _ := newCache(t)
	first, err := cache.Jars(t.Context(), pulsar302(t))
	require.NoError(t, err)
	kafka, err := Kafka("4.4.0")
	require.NoError(t, err)
	second, err := cache.Jars(t.Context(), kafka)
	require.NoError(t, err)
	require.NotEqual(t, first.Dir, second.Dir)
	require.Equal(t, 2, fake.count(t))
}

func TestDamagedCacheIsNoticedAndMadeAnew(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(t *testing.T, dir string)
		says   string
	}{
		"truncated jar": {func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, "b-1.jar"), 100))
		}, `jar "b-1.jar" has 100 bytes instead of`},
		"missing jar": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "c-1.jar")))
		}, `jar "c-1.jar" is missing`},
		"changed byte": {func(t *testing.T, dir string) {
			body := jarBytes("a-1.jar")
			body[200] ^= 1
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a-1.jar"), body, 0o644))
		}, `jar "a-1.jar" has changed`},
		"extra jar": {func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "z.JAR"), jarBytes("z"), 0o644))
		}, `jar "z.JAR" does not belong here`},
		"half made directory": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, manifestFile)))
		}, "the manifest is missing"},
		"empty manifest": {func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, manifestFile), 0))
		}, "read the manifest"},
		"manifest without jars": {func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, manifestFile), []byte("{}"), 0o644))
		}, "the manifest names no jar"},
		"directory as jar": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a-1.jar")))
			require.NoError(t, os.Mkdir(filepath.Join(dir, "a-1.jar"), 0o755))
		}, `jar "a-1.jar" is not a file`},
	} {
		t.Run(name, func(t *testing.T) {
			cache, fake, said := newCache(t)
			jars, err := cache.Jars(t.Context(), pulsar302(t))
			require.NoError(t, err)
			test.damage(t, jars.Dir)
			again, err := cache.Jars(t.Context(), pulsar302(t))
			require.NoError(t, err)
			require.Equal(t, jars, again)
			require.Equal(t, 2, fake.count(t))
			require.Contains(t, said.text(), "damaged and are made anew")
			require.Contains(t, said.text(), test.says)
			_, err = check(jars.Dir)
			require.NoError(t, err)
			requireNoParts(t, cache)
		})
	}
}

func TestTouchedJarsAreHashedAndKept(t *testing.T) {
	cache, fake, _ := newCache(t)
	jars, err := cache.Jars(t.Context(), pulsar302(t))
	require.NoError(t, err)
	path := filepath.Join(jars.Dir, "a-1.jar")
	when := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, when, when))
	_, err = cache.Jars(t.Context(), pulsar302(t))
	require.NoError(t, err)
	require.Equal(t, 1, fake.count(t))

	m, err := check(jars.Dir)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, m.Jars[0].MTime.Equal(info.ModTime()), "the next use must not hash again")
}

func TestFailedMakingLeavesNothingToBeTakenForWhole(t *testing.T) {
	cache, fake, _ := newCache(t)
	bill := pulsar302(t)
	fake.before = func(_ context.Context, dir string) error {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a-1.jar"), jarBytes("a"), 0o644))
		return errors.New("exit status 1")
	}
	_, err := cache.Jars(t.Context(), bill)
	require.ErrorContains(t, err, "exit status 1")
	require.NoDirExists(t, filepath.Join(cache.Dir, "jars", bill.Key()))
	requireNoParts(t, cache)
}

func TestLeftoversOfAKilledProcessAreRemoved(t *testing.T) {
	cache, _, _ := newCache(t)
	bill := pulsar302(t)
	jars := filepath.Join(cache.Dir, "jars")
	left, other := filepath.Join(jars, "."+bill.Key()+"-123.part"), filepath.Join(jars, ".kafka-1-123.part")
	require.NoError(t, os.MkdirAll(left, 0o755))
	require.NoError(t, os.MkdirAll(other, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(left, "a-1.jar"), nil, 0o644))
	_, err := cache.Jars(t.Context(), bill)
	require.NoError(t, err)
	require.NoDirExists(t, left)
	require.DirExists(t, other, "another key's lock is not held")
}

func TestDamagedJarOfTheLocalRepositoryIsNamed(t *testing.T) {
	for name, spoil := range map[string]func([]byte) []byte{
		"truncated": func(body []byte) []byte { return body[:len(body)/2] },
		"empty":     func([]byte) []byte { return nil },
		"bit flip":  func(body []byte) []byte { body[500] ^= 1; return body },
	} {
		t.Run(name, func(t *testing.T) {
			cache, fake, _ := newCache(t)
			fake.spoil = func(name string, body []byte) []byte {
				if name == "b-1.jar" {
					return spoil(body)
				}
				return body
			}
			_, err := cache.Jars(t.Context(), pulsar302(t))
			require.ErrorContains(t, err, `Maven's local repository holds a damaged jar, "b-1.jar"`)
			require.ErrorContains(t, err, "delete it there (find ~/.m2 -name 'b-1.jar') and run again")
			require.NoDirExists(t, filepath.Join(cache.Dir, "jars", pulsar302(t).Key()))
		})
	}
}

func TestUnwritableDirectoryIsNamedWithItsSetting(t *testing.T) {
	cache, fake, _ := newCache(t)
	// A file in the way stops root too, which permissions would not.
	require.NoError(t, os.WriteFile(cache.Dir, nil, 0o644))
	_, err := cache.Jars(t.Context(), pulsar302(t))
	require.ErrorContains(t, err, "write the cache directory "+`"`+cache.Dir+`"`)
	require.ErrorContains(t, err, "BROKERFAULT_CACHE")
	require.Zero(t, fake.count(t))
}

func requireNoParts(t *testing.T, cache *Cache) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(cache.Dir, "jars"))
	require.NoError(t, err)
	for _, entry := range entries {
		require.False(t, strings.HasSuffix(entry.Name(), ".part"), entry.Name())
	}
}
