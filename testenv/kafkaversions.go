package testenv

import (
	"os"
	"slices"

	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

// KafkaVersions are those to show a claim on that is made for several: these and the
// default version. Where BROKERFAULT_KAFKA is set it is that one alone: a run with a
// version is a run with no other.
func KafkaVersions(these ...string) []string {
	s, _ := settings.FromEnvironment() // what is wrong in there New says
	if os.Getenv("BROKERFAULT_KAFKA") != "" {
		return []string{s.Kafka}
	}
	all := append([]string{s.Kafka}, these...)
	slices.Sort(all)
	return slices.Compact(all)
}
