package evidence

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
)

// Log keeps the lines of a client's log. It is an io.Writer for many
// goroutines; its zero value is ready.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// Count counts the lines that hold a text, in any case.
func (l *Log) Count(text string) int {
	text = strings.ToLower(text)
	n := 0
	for line := range strings.Lines(l.String()) {
		if strings.Contains(strings.ToLower(line), text) {
			n++
		}
	}
	return n
}

// String is the whole log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Tail returns the last lines of a file, or a line that says why there are none.
func Tail(path string, lines int) string {
	const most = 64 << 10
	f, err := os.Open(path)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		_, _ = f.Seek(-most, io.SeekEnd)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
