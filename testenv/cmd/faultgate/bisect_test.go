package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInterruptedBisectNamesNoRelease(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	_, _, err := firstChange(ctx, []string{"v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0"}, "v1.3.0", func(version string) (bool, error) {
		if version == "v1.0.0" || version == "v1.3.0" {
			return version == "v1.3.0", nil
		}
		interrupt()
		return false, errors.New("no test of the case ran")
	})
	require.EqualError(t, err, "interrupted between v1.0.0 and v1.3.0")
}
