package testenv

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInARowFailsAtTheFirstFailure(t *testing.T) {
	calls := 0
	flows := func(failing int) Probe {
		calls = 0
		return func(context.Context) error {
			calls++
			if calls == failing {
				return Stop(errors.New("refused"))
			}
			return nil
		}
	}
	require.NoError(t, InARow(3, flows(0))(t.Context()))
	require.Equal(t, 3, calls)
	require.EqualError(t, InARow(3, flows(2))(t.Context()), "after 1 of 3 in a row: refused")
	require.Equal(t, 2, calls)
	require.Error(t, InARow(0, flows(1))(t.Context()), "it never counts as none")
}
