package process

import (
	"context"
	"fmt"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// Fetch implements runtime.Node.
func (n *node) Fetch(ctx context.Context, bill dist.Bill, progress func(format string, args ...any)) error {
	_, err := n.runtime.cache.Telling(progress).Jars(ctx, bill)
	return err
}

// Become implements runtime.Node.
func (n *node) Become(ctx context.Context, next broker.Node, progress func(format string, args ...any)) error {
	if n.runs() {
		return fmt.Errorf("change %s: it runs", n.Name())
	}
	if err := runtime.Fits(n.node, next); err != nil {
		return fmt.Errorf("change %s: %w", n.Name(), err)
	}
	jars, err := n.runtime.cache.Telling(progress).Jars(ctx, next.Bill)
	if err != nil {
		return err
	}
	n.jars, n.node = jars, next
	n.start = n.runtime.store(jars.Key, progress)
	n.findArchive(ctx)
	return nil
}
