package gate

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/stretchr/testify/require"
)

func listedCases() Catalogue {
	return Catalogue{
		{
			Case: "kafkatxn/unconfirmed-commit-same-client", Claim: "a client whose commit was unconfirmed and then aborted commits the next transaction",
			KnownBad:  []Combination{{Client: "v1.22.3", Broker: "3.5.1", Open: "there"}, {Client: "v1.22.3", Broker: "3.9.2"}},
			KnownGood: []Combination{{Client: "v1.22.3", Broker: "4.4.0"}}, Issue: "https://github.com/twmb/franz-go/issues/855",
		},
		{Case: "kafkatxn/zombie", Claim: "a zombie is fenced with a typed error"},
	}
}

func TestListIsNotWiderThanItsTerminal(t *testing.T) {
	unlimited := listedCases().Text(0)
	natural := text.LongestLineLen(unlimited)
	require.Greater(t, natural, 200)
	require.Equal(t, unlimited, listedCases().Text(natural), "what fits stays as it is")
	for width := natural - 1; width >= 61; width-- {
		shown := listedCases().Text(width)
		require.LessOrEqual(t, text.LongestLineLen(shown), width, shown)
		require.Contains(t, shown, "kafkatxn/unconfirmed-commit-same-client", "a name is not broken")
		words := strings.FieldsFunc(shown, func(r rune) bool { return strings.ContainsRune(" \n│─┌┐└┘├┤┬┴┼", r) })
		for _, word := range []string{"unconfirmed", "transaction", "v1.22.3", "(open);", "4.4.0", "fenced"} {
			require.Contains(t, words, word, "%d characters:\n%s", width, shown)
		}
	}
}

func TestListInANarrowTerminalHasAParagraphForEachCase(t *testing.T) {
	require.Equal(t, `kafkatxn/unconfirmed-commit-same-client
  a client whose commit was unconfirmed and then aborted
  commits the next transaction
  known-bad: client v1.22.3 on broker 3.5.1 (open); client
  v1.22.3 on broker 3.9.2
  known-good: client v1.22.3 on broker 4.4.0
  report: https://github.com/twmb/franz-go/issues/855
kafkatxn/zombie
  a zombie is fenced with a typed error
`, listedCases().Text(60))
	require.Contains(t, listedCases().Text(30), "\n  report: https://github.com/twmb/franz-go/issues/855\n", "an address is not broken")
}
