package suite

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

// Brokers are the names that a set's broker can have.
var Brokers = []string{"kafka", "pulsar", "rocketmq"}

// setting is the variable that sets a broker's version.
func setting(b Broker) string { return "BROKERFAULT_" + strings.ToUpper(b.Name) + "=" + b.Version }

// Sets are all combinations of the versions that are given as NAME=V1,V2 for client
// modules and for brokers. Without any there is one empty set.
func Sets(clients, brokers []string) ([]Set, error) {
	sets := []Set{{}}
	var seen []string
	for _, given := range clients {
		module, versions, err := split(given)
		if err != nil {
			return nil, fmt.Errorf("--client %q: it takes a module path, = and versions with commas between", given)
		}
		if slices.Contains(seen, module) {
			return nil, fmt.Errorf("--client names %s twice; give its versions with commas between", module)
		}
		seen = append(seen, module)
		sets = times(sets, versions, func(s *Set, v string) { s.Clients = append(s.Clients, Client{module, v}) })
	}
	for _, given := range brokers {
		name, versions, err := split(given)
		if err != nil || !slices.Contains(Brokers, name) {
			return nil, fmt.Errorf("--broker %q: it takes one of %s, = and versions with commas between", given, strings.Join(Brokers, ", "))
		}
		if slices.Contains(seen, name) {
			return nil, fmt.Errorf("--broker names %s twice; give its versions with commas between", name)
		}
		for _, v := range versions {
			if _, err := settings.Parse([]string{setting(Broker{name, v})}); err != nil {
				return nil, fmt.Errorf("--broker %q: %w", given, err)
			}
		}
		seen = append(seen, name)
		sets = times(sets, versions, func(s *Set, v string) { s.Brokers = append(s.Brokers, Broker{name, v}) })
	}
	return sets, nil
}

// times makes one set for each version out of each there is.
func times(sets []Set, versions []string, add func(*Set, string)) []Set {
	var all []Set
	for _, s := range sets {
		for _, v := range versions {
			one := Set{slices.Clone(s.Clients), slices.Clone(s.Brokers)}
			add(&one, v)
			all = append(all, one)
		}
	}
	return all
}

func split(given string) (name string, versions []string, err error) {
	name, list, _ := strings.Cut(given, "=")
	versions = strings.Split(list, ",")
	if name == "" || slices.Contains(versions, "") {
		return "", nil, fmt.Errorf("%q is not NAME=VERSIONS", given)
	}
	return name, versions, nil
}

// brokerOf is the broker that a case is about: its package's name begins with it.
func brokerOf(e gate.Entry) string {
	for _, name := range Brokers {
		if strings.HasPrefix(path.Base(e.Package), name) {
			return name
		}
	}
	return ""
}

// SetOf is the set that runs a case at a combination.
func SetOf(e gate.Entry, at gate.Combination) Set {
	var s Set
	if at.Client != "" {
		s.Clients = []Client{{e.Client, at.Client}}
	}
	if name := brokerOf(e); at.Broker != "" && name != "" {
		s.Brokers = []Broker{{name, at.Broker}}
	}
	return s
}

// About are the cases that are about one of these brokers, or all if none is given.
func About(c gate.Catalogue, brokers []Broker) gate.Catalogue {
	if len(brokers) == 0 {
		return c
	}
	return slices.DeleteFunc(slices.Clone(c), func(e gate.Entry) bool {
		return !slices.ContainsFunc(brokers, func(b Broker) bool { return b.Name == brokerOf(e) })
	})
}
