package dist

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errExit = errors.New("exit status 1")

func fails(context.Context, string) error { return errExit }

func TestMavensOwnWordsAreInTheError(t *testing.T) {
	for name, test := range map[string]struct{ log, words, advice string }{
		"no such version": {
			"[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal on project jars: Could not find artifact g:a:jar:9.9.9 in central -> [Help 1]\n" +
				"[ERROR] \n[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.\n[ERROR] [Help 1] x\n",
			"Failed to execute goal on project jars: Could not find artifact g:a:jar:9.9.9 in central; ", "ask for another one",
		},
		"nobody answers": {"[ERROR] Could not transfer artifact g:a:pom:1: Connection refused\n", "Connection refused", "check the network"},
		"full disk":      {"[ERROR] write: No space left on device\n", "No space left", "BROKERFAULT_CACHE"},
		"no java":        {"Error: JAVA_HOME is not defined correctly.\n  We cannot execute /x/java\n", "JAVA_HOME is not defined", "check that mvn runs"},
		"bad checksum":   {"[ERROR] Could not transfer artifact g:a:jar:1: Checksum validation failed\n", "Checksum", "arrived damaged"},
		"no level":       {"something\nelse\n", "something | else", "see the log"},
		"silence":        {"", "it said nothing", "see the log"},
	} {
		t.Run(name, func(t *testing.T) {
			cache, fake, _ := newCache(t)
			fake.before, fake.says = fails, func([]string) string { return test.log }
			_, err := cache.Jars(t.Context(), pulsar302(t))
			require.ErrorIs(t, err, errExit)
			require.ErrorContains(t, err, "get the jars of pulsar 3.0.2: maven: ")
			require.ErrorContains(t, err, test.words)
			require.ErrorContains(t, err, test.advice)
			require.NotContains(t, err.Error(), "[Help")
			log := filepath.Join(cache.Dir, "jars", pulsar302(t).Key()+".maven.log")
			require.ErrorContains(t, err, "log: "+log)
			kept, readErr := os.ReadFile(log)
			require.NoError(t, readErr)
			require.Equal(t, test.log, string(kept))
		})
	}
}

func TestOnlyTheFirstLinesOfAFailureAreQuoted(t *testing.T) {
	var out strings.Builder
	for i := range 20 {
		fmt.Fprintf(&out, "[ERROR] %d%s\n", i, strings.Repeat("ä", 400))
	}
	words := errorLines([]byte(out.String()))
	require.Less(t, len(words), 2000)
	require.Equal(t, maxLines, strings.Count(words, "..."))
}

func TestRepeatedWordsAreQuotedOnce(t *testing.T) {
	out := "[ERROR] [ERROR] Some problems were encountered while processing the POMs:\n[ERROR] Non-resolvable import POM: x @ line 10\n" +
		"[ERROR]     Non-resolvable import POM: x @ line 10: Connection refused -> [Help 2]\n"
	require.Equal(t, "Non-resolvable import POM: x @ line 10: Connection refused", errorLines([]byte(out)))
}

func TestRememberedFailureIsAskedAgain(t *testing.T) {
	cache, fake, _ := newCache(t)
	forced := false
	fake.says = func(args []string) string {
		forced = slices.Contains(args, "-U")
		return "[ERROR] g:a:jar:1 was not found in x during a previous attempt. This failure was cached in the local repository\n"
	}
	fake.before = func(context.Context, string) error {
		if forced {
			return nil
		}
		return errExit
	}
	_, err := cache.Jars(t.Context(), pulsar302(t))
	require.NoError(t, err)
	require.Equal(t, 2, fake.count(t))
}

func TestMavenThatDoesNotFinishIsEndedAndQuoted(t *testing.T) {
	cache, fake, _ := newCache(t)
	cache.Limit = 50 * time.Millisecond
	fake.says = func([]string) string { return "[INFO] one\n[INFO] Downloading x\n" }
	fake.before = func(ctx context.Context, _ string) error {
		<-ctx.Done()
		return errors.New("signal: killed")
	}
	_, err := cache.Jars(t.Context(), pulsar302(t))
	require.ErrorContains(t, err, "Maven did not finish within 50ms; its last lines: [INFO] one | [INFO] Downloading x; log: ")
}

func TestCancelledCallerIsNotBlamedOnMaven(t *testing.T) {
	cache, fake, _ := newCache(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the test is over")
	fake.before = func(ctx context.Context, _ string) error {
		cancel(why)
		<-ctx.Done()
		return errors.New("signal: killed")
	}
	_, err := cache.Jars(ctx, pulsar302(t))
	require.ErrorIs(t, err, why)
	require.NotContains(t, err.Error(), "did not finish")
}

func TestMissingMavenSaysWhatToDo(t *testing.T) {
	cache, fake, _ := newCache(t)
	cache.Maven = ""
	t.Setenv("PATH", t.TempDir())
	_, err := cache.Jars(t.Context(), pulsar302(t))
	require.ErrorIs(t, err, ErrNoMaven)
	require.ErrorContains(t, err, "install Maven")
	require.ErrorContains(t, err, "BROKERFAULT_BACKEND=container")
	require.Zero(t, fake.count(t))
}

func TestMavenThatCopiesNothingIsAnError(t *testing.T) {
	cache, _, _ := newCache(t)
	cache.Run = func(context.Context, []string, string, string) error { return nil }
	_, err := cache.Jars(t.Context(), pulsar302(t))
	require.ErrorContains(t, err, "copied no jar")
	cache.Run = nil
	_, err = cache.Jars(t.Context(), pulsar302(t))
	require.ErrorContains(t, err, "no Runner")
}

func TestProgressIsToldWhileMavenRuns(t *testing.T) {
	cache, fake, said := newCache(t)
	cache.every = time.Millisecond
	fake.says = func([]string) string { return "[INFO] Downloaded from x: y\n[INFO] Downloaded from x: z\n" }
	fake.before = func(ctx context.Context, dir string) error {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a-1.jar"), jarBytes("a"), 0o644))
		for !strings.Contains(said.text(), "2 files downloaded, 1 jars copied") {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
		return nil
	}
	cache.Limit = time.Minute
	_, err := cache.Jars(t.Context(), pulsar302(t))
	require.NoError(t, err)
	before := said.text()
	require.Never(t, func() bool { return said.text() != before }, 30*time.Millisecond, 5*time.Millisecond)
}
