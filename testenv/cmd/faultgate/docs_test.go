package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// called is the command in a line of a document, with what is said to it.
var called = regexp.MustCompile("(?:faultgate(?:@\\S+)?|\\$gate) ([a-z]+)([^`|\n]*)")

// named is a flag alone: "`-record FILE`".
var named = regexp.MustCompile("`(-[a-z]+)")

// folded is where a line of a workflow goes on with a flag.
var folded = regexp.MustCompile(`\n +-([a-z])`)

func TestFlagsInTheDocumentsAreThoseOfTheCommands(t *testing.T) {
	workflows, err := filepath.Glob("../../../.github/workflows/*.yml")
	require.NoError(t, err)
	seen := 0
	for _, file := range append(workflows, "../../../README.md", "../../../CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(folded.ReplaceAllString(string(text), " -$1")) {
			for _, call := range called.FindAllStringSubmatch(line, -1) {
				words := strings.Fields(call[2])
				if end := slices.Index(words, "--"); end >= 0 {
					words = words[:end]
				}
				if strings.HasPrefix(line, "| `faultgate ") { // a row of a table is about one command
					for _, flag := range named.FindAllStringSubmatch(line, -1) {
						words = append(words, flag[1])
					}
				}
				c, _, err := newRoot().Find([]string{call[1]})
				if err != nil {
					assert.NotContains(t, call[2], " -", "%s: %s", file, line)
					continue // prose
				}
				c.InitDefaultHelpFlag()
				for _, word := range words {
					if name, is := strings.CutPrefix(word, "-"); is {
						name, _, _ = strings.Cut(name, "=")
						flag := c.Flags().Lookup(name)
						if len(name) == 1 {
							flag = c.Flags().ShorthandLookup(name)
						}
						assert.NotNil(t, flag, "%s: %s takes no -%s: %s", file, call[1], name, line)
						seen++
					}
				}
			}
		}
	}
	require.Greater(t, seen, 30)
}

func TestUsageEndsWithWhatGoesToGoTest(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if strings.Contains(c.UseLine(), "go test flags") {
			assert.True(t, strings.HasSuffix(c.UseLine(), "[flags] [-- go test flags]"), c.UseLine())
		}
	}
}
