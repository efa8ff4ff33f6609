package trackrecord

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// Sighting is a known-bad combination that was seen red.
type Sighting struct {
	Case          string `json:"case"`
	Client        string `json:"client"`
	ClientVersion string `json:"client_version"`
	Broker        string `json:"broker"`
	BrokerVersion string `json:"broker_version"`
	Runtime       string `json:"runtime"`
	// Date is the day in UTC: 2026-01-31.
	Date string `json:"date"`
	// Commit is the suite's.
	Commit string `json:"commit"`
	// Symptom is the reason that the test gave.
	Symptom string `json:"symptom"`
}

// place compares what two sightings are of: of one place only the latest is kept.
func place(a, b Sighting) int {
	return cmp.Or(strings.Compare(a.Case, b.Case), strings.Compare(a.ClientVersion, b.ClientVersion),
		strings.Compare(a.BrokerVersion, b.BrokerVersion), strings.Compare(a.Runtime, b.Runtime))
}

// Record is the latest sighting of each case with each client and broker version in each
// runtime, sorted.
type Record []Sighting

// Read reads a record. A file that is not there is an empty one.
func Read(path string) (Record, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the track record: %w", err)
	}
	r := Record{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("read the track record %s: %w", path, err)
	}
	for _, s := range r {
		if _, err := time.Parse(time.DateOnly, s.Date); err != nil || s.Case == "" {
			return nil, fmt.Errorf("read the track record %s: a sighting needs a case and a date like 2026-01-31, but one has %q and %q", path, s.Case, s.Date)
		}
	}
	return r, nil
}

// Write replaces the file, so that a reader sees the old record or the new one.
func (r Record) Write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the track record: %w", err)
	}
	if err := renameio.WriteFile(path, append(text, '\n'), 0o644, renameio.IgnoreUmask(), renameio.WithTempDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("write the track record: %w", err)
	}
	return nil
}

// With is the record with what these controls saw red on this day. Sightings of other
// places stay as they are, and a later one than this is kept.
func (r Record) With(controls gate.Controls, day time.Time, commit string) Record {
	all := slices.Clone(r)
	for _, c := range controls {
		if c.Seen == nil {
			continue
		}
		cell := c.Seen
		all = append(all, Sighting{
			Case: cell.Case, Client: cell.Client, ClientVersion: cell.ClientVersion,
			Broker: cell.Broker, BrokerVersion: cell.BrokerVersion, Runtime: cell.Runtime,
			Date: day.UTC().Format(time.DateOnly), Commit: commit, Symptom: symptom(cell.Reason),
		})
	}
	// The latest of a place comes first; of the same day, the one that was added last.
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b Sighting) int { return cmp.Or(place(a, b), strings.Compare(b.Date, a.Date)) })
	return slices.CompactFunc(all, func(a, b Sighting) bool { return place(a, b) == 0 })
}

// symptom is a reason without what the case lists anyway.
func symptom(reason string) string {
	reason, _, _ = strings.Cut(reason, "listed as known-bad: ")
	return strings.Join(strings.Fields(reason), " ")
}

// Of are the latest sightings of a listed combination, one for each runtime that it was
// seen in. An empty version stands for any.
func (r Record) Of(name, client, broker string) []Sighting {
	latest := map[string]Sighting{}
	for _, s := range r {
		if s.Case == name && (client == "" || s.ClientVersion == client) && (broker == "" || s.BrokerVersion == broker) && s.Date > latest[s.Runtime].Date {
			latest[s.Runtime] = s
		}
	}
	var all []Sighting
	for _, s := range latest {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Sighting) int { return strings.Compare(a.Runtime, b.Runtime) })
	return all
}
