package gate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Combination is a client and a broker version of which a case says that it fails or
// holds there. An empty version stands for any.
type Combination struct {
	Client   string `json:"client,omitempty"`
	Broker   string `json:"broker,omitempty"`
	Evidence string `json:"evidence,omitempty"`
	// Fails is the claim of the wait that fails; empty is any.
	Fails string `json:"fails,omitempty"`
	// Open says that no release mends it, and where that is told.
	Open string `json:"open,omitempty"`
}

// String is "client v0.17.0 on broker 3.0.2".
func (c Combination) String() string {
	var words []string
	if c.Client != "" {
		words = append(words, "client "+c.Client)
	}
	if c.Broker != "" {
		words = append(words, "broker "+c.Broker)
	}
	if len(words) == 0 {
		return "any client on any broker"
	}
	return strings.Join(words, " on ")
}

// Entry is a case of the catalogue.
type Entry struct {
	Case      string        `json:"case"`
	Claim     string        `json:"claim"`
	Issue     string        `json:"issue"`
	Package   string        `json:"package"`
	Tests     []string      `json:"tests"`
	Client    string        `json:"client"`
	KnownBad  []Combination `json:"known_bad"`
	KnownGood []Combination `json:"known_good"`
}

// Catalogue is the cases there are, sorted by name.
type Catalogue []Entry

// NewCatalogue reads it from the report of a listing run.
func NewCatalogue(r *Report) (Catalogue, error) {
	byName := map[string]*Entry{}
	for _, cell := range r.Cells {
		l := cell.listing
		e := byName[cell.Case]
		if e == nil {
			e = &Entry{Case: cell.Case, Claim: l.claim, Issue: cell.Issue, Package: cell.Package, Client: cell.Client}
			byName[cell.Case] = e
			for _, list := range []struct {
				text string
				into *[]Combination
			}{{l.knownBad, &e.KnownBad}, {l.knownGood, &e.KnownGood}} {
				if list.text == "" {
					continue
				}
				if err := json.Unmarshal([]byte(list.text), list.into); err != nil {
					return nil, fmt.Errorf("read the combinations of %s: %w", cell.Case, err)
				}
			}
		}
		if e.Package != cell.Package {
			return nil, fmt.Errorf("the case %s is in %s and in %s: a name stands for one", cell.Case, e.Package, cell.Package)
		}
		e.Tests = append(e.Tests, cell.Test)
	}
	var all Catalogue
	for _, e := range byName {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Case, b.Case) })
	return all, nil
}

// Matching are the cases whose name contains a match of the pattern.
func (c Catalogue) Matching(pattern *regexp.Regexp) Catalogue {
	return c.where(func(e Entry) bool { return pattern.MatchString(e.Case) })
}

// Of are the cases of these client modules.
func (c Catalogue) Of(modules ...string) Catalogue {
	return c.where(func(e Entry) bool { return slices.Contains(modules, e.Client) })
}

func (c Catalogue) where(is func(Entry) bool) Catalogue {
	var some Catalogue
	for _, e := range c {
		if is(e) {
			some = append(some, e)
		}
	}
	return some
}

// Clients are the modules under test, sorted.
func (c Catalogue) Clients() []string {
	var all []string
	for _, e := range c {
		if e.Client != "" {
			all = append(all, e.Client)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Named says whether there is a case of this name.
func (c Catalogue) Named(name string) bool {
	return slices.ContainsFunc(c, func(e Entry) bool { return e.Case == name })
}

// Keep drops the cells of other cases from a report.
func (r *Report) Keep(c Catalogue) {
	r.Cells = slices.DeleteFunc(r.Cells, func(cell Cell) bool { return !c.Named(cell.Case) })
}

// Add puts another report behind this one.
func (r *Report) Add(other *Report) {
	r.Cells = append(r.Cells, other.Cells...)
	r.Failures = append(r.Failures, other.Failures...)
	r.Environment = append(r.Environment, other.Environment...)
	r.BuildMS += other.BuildMS
	r.Interrupted = r.Interrupted || other.Interrupted
	r.flagsRefused = cmp.Or(r.flagsRefused, other.flagsRefused)
}
