package testenv

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

func TestTopicIsMadeWhileTheControllerChanges(t *testing.T) {
	for name, test := range map[string]struct {
		answers []error // of two brokers in turn, the last for ever
		fails   error
		asked   int
	}{
		"at once":                       {[]error{nil}, nil, 1},
		"by the other one":              {[]error{kerr.NotController, nil}, nil, 2},
		"after an election":             {[]error{kerr.NotController, kerr.NotController, kerr.NotController, nil}, nil, 4},
		"without an answer":             {[]error{io.ErrUnexpectedEOF, kerr.TopicAlreadyExists}, nil, 2},
		"it was there before":           {[]error{kerr.TopicAlreadyExists}, kerr.TopicAlreadyExists, 2},
		"its name is refused":           {[]error{kerr.NotController, kerr.InvalidTopicException, nil}, kerr.InvalidTopicException, 2},
		"it was there, says the second": {[]error{kerr.NotController, kerr.TopicAlreadyExists, nil}, kerr.TopicAlreadyExists, 2},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			probe := doneByOneOf(2, kerr.TopicAlreadyExists, func(context.Context, int) error {
				asked++
				return test.answers[min(asked, len(test.answers))-1]
			})
			_, err := poll.Until(t.Context(), poll.Options{Budget: 5 * time.Second}, probe)
			require.ErrorIs(t, err, test.fails)
			require.Equal(t, test.asked, asked)
		})
	}
}
