package prefetch

import (
	"slices"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
)

// Wanted is what is to be there.
type Wanted struct {
	// Clients are sets of client versions; the empty set is the one of go.mod.
	Clients [][]suite.Client
	Brokers []suite.Broker
}

// AddBroker adds a broker that is not in it.
func (w *Wanted) AddBroker(b suite.Broker) {
	if !slices.Contains(w.Brokers, b) {
		w.Brokers = append(w.Brokers, b)
	}
}

// AddClients adds a set that is not in it.
func (w *Wanted) AddClients(set []suite.Client) {
	if !slices.ContainsFunc(w.Clients, func(other []suite.Client) bool { return slices.Equal(other, set) }) {
		w.Clients = append(w.Clients, set)
	}
}

// AddListed adds the broker versions, the client versions, or both, that cases list.
// Tests that name a broker version themselves list it.
func (w *Wanted) AddListed(cases gate.Catalogue, brokers, clients bool) {
	for _, e := range cases {
		for _, at := range slices.Concat(e.KnownBad, e.KnownGood) {
			set := suite.SetOf(e, at)
			if brokers {
				for _, b := range set.Brokers {
					w.AddBroker(b)
				}
			}
			if clients {
				w.AddClients(set.Clients)
			}
		}
	}
}

// sorted puts the brokers in order, so that a run tells the same as the one before.
func (w *Wanted) sorted() []suite.Broker {
	all := slices.Clone(w.Brokers)
	slices.SortFunc(all, func(a, b suite.Broker) int { return strings.Compare(a.Name+" "+a.Version, b.Name+" "+b.Version) })
	return all
}
