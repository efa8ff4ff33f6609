package evidence

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func says(text string) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func TestPieceThatCannotBeGotIsNamedAndKeepsNoneBack(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	b := &Bundle{Dir: t.TempDir(), Limit: 100 * time.Millisecond}
	b.Add("one.log", "the first", says("one"))
	b.Add("two.log", "the second", func(context.Context, io.Writer) error { return errors.New("it is paused") })
	b.Add("three.log", "the third", func(context.Context, io.Writer) error { panic("nil map") })
	b.Add("four.log", "the fourth", func(context.Context, io.Writer) error { <-release; return nil })
	b.Miss("five.log", "the fifth", errors.New("there was no broker"))
	b.Add("six.log", "the sixth", says("six"))
	require.NoError(t, b.Summarize("verdict  environment\n"))

	text := read(t, b.Dir, SummaryFile)
	here, missing, found := strings.Cut(text, "Not to be had")
	require.True(t, found, text)
	require.True(t, strings.HasPrefix(here, "verdict  environment\n"))
	for _, want := range []string{"one.log", "the first", "six.log"} {
		require.Contains(t, here, want)
	}
	for _, want := range []string{
		"two.log                          the second: it is paused\n", "the third: the probe panicked: nil map",
		"the fourth: not within", "did not return", "the fifth: there was no broker",
	} {
		require.Contains(t, missing, want)
	}
	require.Equal(t, "six", read(t, b.Dir, "six.log"))
}

func TestPiecesStayInTheirFolderAndApart(t *testing.T) {
	b := &Bundle{Dir: t.TempDir(), Limit: time.Second}
	b.Add("../the client.log", "", says("one"))
	b.Add("..-the-client.log", "", says("two"))
	b.Add(SummaryFile, "", says("three"))
	require.NoError(t, b.Summarize(""))
	require.Equal(t, "one", read(t, b.Dir, "..-the-client.log"))
	require.Equal(t, "two", read(t, b.Dir, "..-the-client-2.log"))
	require.Equal(t, "three", read(t, b.Dir, "summary-2.txt"))
}

func TestBundleWithoutAFolderSaysSo(t *testing.T) {
	b := &Bundle{Dir: filepath.Join(t.TempDir(), "gone"), Limit: time.Second}
	b.Add("one.log", "the first", says("one"))
	require.ErrorContains(t, b.Summarize(""), "no such file")
}

func read(t *testing.T, dir, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	require.NoError(t, err)
	return string(text)
}
