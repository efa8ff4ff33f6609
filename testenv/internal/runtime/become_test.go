package runtime

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
)

func TestNodeGoesOnAsOneOfItsNameAndPortsOnly(t *testing.T) {
	now := broker.Node{Name: "kafka-1", Ports: []broker.Port{{Name: "client", Client: true}, {Name: "internal"}}}
	for want, next := range map[string]broker.Node{
		"":                              {Name: "kafka-1", Ports: []broker.Port{{Name: "internal", Inside: 7}, {Name: "client", Client: true}}},
		"kafka-1 cannot become kafka-2": {Name: "kafka-2", Ports: now.Ports},
		"kafka-1 has the ports [client (client) internal], and would have [client (client)]": {
			Name: "kafka-1", Ports: now.Ports[:1],
		},
		"kafka-1 has the ports [client (client) internal], and would have [client internal]": {
			Name: "kafka-1", Ports: []broker.Port{{Name: "client"}, {Name: "internal"}},
		},
	} {
		err := Fits(now, next)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
}
