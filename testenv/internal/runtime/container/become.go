package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/moby/moby/client"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// Fetch implements runtime.Node.
func (n *node) Fetch(ctx context.Context, bill dist.Bill, progress func(format string, args ...any)) error {
	_, err := n.Runtime.image(ctx, bill, progress)
	return err
}

// Become implements runtime.Node. Another image means another container: what the node
// has written is carried over.
func (n *node) Become(ctx context.Context, next broker.Node, progress func(format string, args ...any)) error {
	if n.running() {
		return fmt.Errorf("change %s: it runs", n.Name())
	}
	if err := runtime.Fits(n.node, next); err != nil {
		return fmt.Errorf("change %s: %w", n.Name(), err)
	}
	image, err := n.Runtime.image(ctx, next.Bill, progress)
	if err != nil {
		return err
	}
	if image != n.image && n.made {
		if err := n.move(ctx, image); err != nil {
			return fmt.Errorf("change %s: %w", n.Name(), err)
		}
	}
	next.Ports = n.node.Ports // with their numbers
	n.image, n.node = image, next
	return nil
}

// carried is what a node has written: its home, and the marks of its setup.
var carried = []string{home, path.Dir(scriptFile)}

// move puts what the node has written into a new container of another image.
func (n *node) move(ctx context.Context, image string) error {
	kept := make([]*os.File, len(carried))
	for i, dir := range carried {
		f, err := n.copyOut(ctx, dir)
		if err != nil {
			return fmt.Errorf("take %s along: %w", dir, err)
		}
		defer os.Remove(f.Name())
		defer f.Close()
		kept[i] = f
	}
	if err := n.remove(ctx); err != nil {
		return err
	}
	n.image = image
	if err := n.make(ctx); err != nil {
		return err
	}
	for i, dir := range carried {
		_, err := n.engine.CopyToContainer(ctx, n.container, client.CopyToContainerOptions{DestinationPath: path.Dir(dir), Content: kept[i]})
		if err != nil {
			return fmt.Errorf("bring %s back: %w", dir, err)
		}
	}
	return nil
}

// copyOut copies a directory of the container to a file, which is returned at its start.
func (n *node) copyOut(ctx context.Context, dir string) (*os.File, error) {
	out, err := n.engine.CopyFromContainer(ctx, n.container, client.CopyFromContainerOptions{SourcePath: dir})
	if err != nil {
		return nil, err
	}
	defer out.Content.Close()
	f, err := os.CreateTemp(n.session.Dir, "moved-")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(f, out.Content)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}
