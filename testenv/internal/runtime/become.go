package runtime

import (
	"fmt"
	"slices"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
)

// Fits says why a node cannot go on as another one: its name and its ports are told to
// others and stay what they are.
func Fits(now, next broker.Node) error {
	if next.Name != now.Name {
		return fmt.Errorf("%s cannot become %s", now.Name, next.Name)
	}
	if a, b := portNames(now), portNames(next); !slices.Equal(a, b) {
		return fmt.Errorf("%s has the ports %v, and would have %v", now.Name, a, b)
	}
	return nil
}

func portNames(n broker.Node) []string {
	names := make([]string, len(n.Ports))
	for i, p := range n.Ports {
		names[i] = p.Name
		if p.Client {
			names[i] += " (client)"
		}
	}
	slices.Sort(names)
	return names
}
