package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// What fails for another reason than that nobody is there proves no cut and no kill.
func TestOnlyARefusalProvesThatABrokerIsGone(t *testing.T) {
	for _, came := range []error{
		fmt.Errorf("connect: %w", syscall.ECONNREFUSED), fmt.Errorf("read: %w", syscall.ECONNRESET), io.EOF, runtime.ErrNotRunning,
	} {
		require.NoError(t, wasRefused("kafka", came))
	}
	for _, came := range []error{
		nil, context.Canceled, os.ErrDeadlineExceeded, fmt.Errorf("connect: %w", syscall.EMFILE), errors.New("the answer is none"),
	} {
		require.Error(t, wasRefused("kafka", came))
	}
}
