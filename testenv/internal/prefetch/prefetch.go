package prefetch

import (
	"context"
	"fmt"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
)

// Item is one thing that a run needs.
type Item struct {
	// What is "go modules and tests", "jars" or "image".
	What string `json:"what"`
	// Of is which: "kafka 3.9.2".
	Of string `json:"of"`
	// Where is a directory or an image; empty for what the go command keeps.
	Where  string `json:"where,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	TookMS int64  `json:"took_ms"`
	// Error says why it is not there.
	Error string `json:"error,omitempty"`
}

// Fetcher gets what is wanted.
type Fetcher struct {
	Suite *suite.Suite
	// Runtime makes the runtime, which is only asked for where a broker is wanted.
	Runtime func(ctx context.Context) (runtime.Runtime, error)
	// Progress is told what goes on.
	Progress func(format string, args ...any)
}

// Modules gets the Go modules and builds the tests.
func (f Fetcher) Modules(ctx context.Context, w Wanted) []Item {
	var all []Item
	for _, clients := range w.Clients {
		if ctx.Err() != nil {
			break
		}
		of := suite.Set{Clients: clients}.String()
		if len(clients) == 0 {
			of = "the versions of go.mod"
		}
		f.Progress("Go modules and tests with %s", of)
		all = append(all, timed(Item{What: "go modules and tests", Of: of}, func(*Item) error { return f.Suite.Download(ctx, clients) }))
	}
	return all
}

// Brokers gets the jars of brokers, or makes their images, one after the other: Maven
// does not run twice at a time.
func (f Fetcher) Brokers(ctx context.Context, w Wanted) []Item {
	if len(w.Brokers) == 0 {
		return nil
	}
	rt, err := f.Runtime(ctx)
	if err != nil {
		return []Item{{What: "jars", Of: "all brokers", Error: err.Error()}}
	}
	what := map[string]string{"container": "image", "process": "jars"}[rt.Name()]
	var all []Item
	for i, b := range w.sorted() {
		if ctx.Err() != nil {
			break
		}
		f.Progress("%s of %s %s (%d of %d)", what, b.Name, b.Version, i+1, len(w.Brokers))
		all = append(all, timed(Item{What: what, Of: b.Name + " " + b.Version}, func(item *Item) error {
			bill, err := dist.Named(b.Name, b.Version)
			if err != nil {
				return err
			}
			made, err := rt.Prepare(ctx, bill, f.Progress)
			item.Where, item.Bytes = made.Name, made.Bytes
			return err
		}))
	}
	return all
}

func timed(item Item, get func(*Item) error) Item {
	began := time.Now()
	if err := get(&item); err != nil {
		item.Error = err.Error()
	}
	item.TookMS = time.Since(began).Milliseconds()
	return item
}

// Result is what is there in the end.
type Result struct {
	Items []Item `json:"items"`
	// Interrupted says that not everything was asked for.
	Interrupted bool `json:"interrupted"`
}

// Complete says that all that was wanted is there.
func (r Result) Complete() bool {
	for _, i := range r.Items {
		if i.Error != "" {
			return false
		}
	}
	return !r.Interrupted
}

func (i Item) String() string { return fmt.Sprintf("%s of %s", i.What, i.Of) }
