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
	_, err := n.fetch(ctx, bill, progress)
	return err
}

func (n *node) fetch(ctx context.Context, bill dist.Bill, progress func(format string, args ...any)) (dist.Jars, error) {
	cache := *n.runtime.cache
	cache.Progress = progress
	return cache.Jars(ctx, bill)
}

// Become implements runtime.Node.
func (n *node) Become(ctx context.Context, next broker.Node, progress func(format string, args ...any)) error {
	if n.runs() {
		return fmt.Errorf("change %s: it runs", n.Name())
	}
	if err := runtime.Fits(n.node, next); err != nil {
		return fmt.Errorf("change %s: %w", n.Name(), err)
	}
	jars, err := n.fetch(ctx, next.Bill, progress)
	if err != nil {
		return err
	}
	n.jars, n.node = jars, next
	n.start, n.archive = n.runtime.store(jars.Key, progress), ""
	if err := n.findArchive(ctx); err != nil {
		progress("%s starts without a class archive: %v", n.Name(), err)
	}
	return nil
}
