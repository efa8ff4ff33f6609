package evidence

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Timeline is what happened, in order, on one clock that starts with it.
type Timeline struct {
	mu  sync.Mutex
	was Record
}

// Record is a timeline as WriteJSON writes it.
type Record struct {
	Started time.Time `json:"started"`
	Entries []Entry   `json:"entries"`
}

// Entry is one thing that happened.
type Entry struct {
	// AtMS counts from the start.
	AtMS int64  `json:"at_ms"`
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Wait is set where the entry begins a wait or ends it.
	Wait *Wait `json:"wait,omitempty"`
}

// Wait is something that takes its time: a broker's start, a fault until it bites, a
// claim until it holds.
type Wait struct {
	Name string `json:"name"`
	// BudgetMS is 0 where there is none.
	BudgetMS int64 `json:"budget_ms,omitempty"`
	// TookMS is nil where the wait begins; one that is not ended did not come true.
	TookMS *int64 `json:"took_ms,omitempty"`
}

// Begun is a wait with a budget, or with 0.
func Begun(name string, budget time.Duration) *Wait {
	return &Wait{Name: name, BudgetMS: budget.Milliseconds()}
}

// After is the wait once it came true.
func (w *Wait) After(took time.Duration) *Wait {
	return &Wait{Name: w.Name, BudgetMS: w.BudgetMS, TookMS: new(took.Milliseconds())}
}

// NewTimeline starts the clock.
func NewTimeline() *Timeline { return &Timeline{was: Record{Started: time.Now(), Entries: []Entry{}}} }

// Add notes something now and returns the line as it will be written.
func (t *Timeline) Add(kind, format string, args ...any) string {
	return t.AddWait(nil, kind, format, args...)
}

// AddWait notes the beginning or the end of a wait.
func (t *Timeline) AddWait(w *Wait, kind, format string, args ...any) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := Entry{time.Since(t.was.Started).Milliseconds(), kind, fmt.Sprintf(format, args...), w}
	t.was.Entries = append(t.was.Entries, e)
	return e.String()
}

// String is the entry's line: seconds since the start, kind, text.
func (e Entry) String() string {
	return fmt.Sprintf("%9.3fs  %-8s %s", float64(e.AtMS)/1000, e.Kind, e.Text)
}

// WriteTo writes a head line with the wall-clock start, then a line an entry.
func (t *Timeline) WriteTo(w io.Writer) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := fmt.Fprintf(w, "started %s\n", t.was.Started.Format(time.RFC3339Nano))
	total := int64(n)
	for _, e := range t.was.Entries {
		if err != nil {
			break
		}
		n, err = fmt.Fprintln(w, e)
		total += int64(n)
	}
	return total, err
}

// WriteJSON writes it as a Record.
func (t *Timeline) WriteJSON(w io.Writer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(t.was)
}
