package evidence

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Timeline is what happened, in order, on one clock that starts with it.
type Timeline struct {
	mu      sync.Mutex
	started time.Time
	entries []entry
}

type entry struct {
	at         time.Duration
	kind, text string
}

// NewTimeline starts the clock.
func NewTimeline() *Timeline { return &Timeline{started: time.Now()} }

// Add notes something now and returns the line as it will be written.
func (t *Timeline) Add(kind, format string, args ...any) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := entry{time.Since(t.started), kind, fmt.Sprintf(format, args...)}
	t.entries = append(t.entries, e)
	return e.String()
}

func (e entry) String() string { return fmt.Sprintf("%9.3fs  %-8s %s", e.at.Seconds(), e.kind, e.text) }

// WriteTo writes a head line with the wall-clock start, then a line an entry:
// seconds since the start, kind, text.
func (t *Timeline) WriteTo(w io.Writer) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := fmt.Fprintf(w, "started %s\n", t.started.Format(time.RFC3339Nano))
	total := int64(n)
	for _, e := range t.entries {
		if err != nil {
			break
		}
		n, err = fmt.Fprintln(w, e)
		total += int64(n)
	}
	return total, err
}
