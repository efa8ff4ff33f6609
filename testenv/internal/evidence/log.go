package evidence

import (
	"bytes"
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
