package htmlreport

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

// longestLine is how much of a log's line is shown, in characters.
const longestLine = 500

// artifacts are the files that a test has left behind.
type artifacts struct {
	// Dir is where they were kept; empty if they were not.
	Dir string
	// Gone says that the directory is not there any more.
	Gone  bool
	Files []file
}

type file struct {
	Name string
	// Link is relative to the page; empty if there is no way.
	Link string
	// Excerpt is the end of a log, with complaints from further up; else empty.
	Excerpt string
}

// Logs are the files with an excerpt.
func (a artifacts) Logs() []file {
	var logs []file
	for _, f := range a.Files {
		if f.Excerpt != "" {
			logs = append(logs, f)
		}
	}
	return logs
}

func look(dir, from string, lines int) artifacts {
	a := artifacts{Dir: dir}
	if dir == "" {
		return a
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		a.Gone = true
		return a
	}
	for _, e := range entries {
		// Nothing but a file can be read to its end.
		if !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f := file{Name: e.Name(), Link: link(from, path)}
		if filepath.Ext(e.Name()) == ".log" {
			f.Excerpt = shown(evidence.LastWords(path, lines))
		}
		a.Files = append(a.Files, f)
	}
	return a
}

// link is the way from the page's directory to a file, as a URL.
func link(from, path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	way, err := filepath.Rel(from, path)
	if err != nil {
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(way)}).String()
}

// shown is a log's text without a terminal's colors and the rest of its longest lines.
func shown(log string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ToValidUTF8(text.StripEscape(log), "\ufffd")) {
		line = strings.TrimRight(line, "\r\n")
		if r := []rune(line); len(r) > longestLine {
			line = string(r[:longestLine]) + " …"
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
