package container

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/headstart"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// Fetch implements runtime.Node.
func (n *node) Fetch(ctx context.Context, bill dist.Bill, progress func(format string, args ...any)) error {
	_, err := n.whole(ctx, bill, progress)
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
	image, err := n.whole(ctx, next.Bill, progress)
	if err != nil {
		return err
	}
	if image.ref != n.image && n.made {
		if err := n.move(ctx, image.ref); err != nil {
			return fmt.Errorf("change %s: %w", n.Name(), err)
		}
	}
	next.Ports = n.node.Ports // with their numbers
	n.image, n.classes, n.node = image.ref, image.classes, next
	n.heads = headstart.New(n.cache.Dir, next.Bill.Key(), nil)
	return nil
}

// move puts what the node has written into a new container of another image: its home, and
// the marks of its setup, but not the jars beside them. A disk of its own stays as it is.
func (n *node) move(ctx context.Context, image string) error {
	var written []string
	if n.disk == nil {
		written = append(written, home)
	}
	for i := range n.node.Launch(n.site).Setup {
		written = append(written, fmt.Sprint(marks, i+1))
	}
	kept := map[string]*os.File{} // by path
	for _, name := range written {
		f, err := n.copyOut(ctx, name)
		if errdefs.IsNotFound(err) {
			continue // a setup that has not been
		}
		if err != nil {
			return fmt.Errorf("take %s along: %w", name, err)
		}
		defer discard(f)
		kept[name] = f
	}
	if err := n.remove(ctx); err != nil {
		return err
	}
	n.image = image
	if err := n.make(ctx); err != nil {
		return err
	}
	for name, f := range kept {
		_, err := n.engine.CopyToContainer(ctx, n.container, client.CopyToContainerOptions{DestinationPath: path.Dir(name), Content: f})
		if err != nil {
			return fmt.Errorf("bring %s back: %w", name, err)
		}
	}
	return nil
}

// copyOut copies what lies at a path of the container to a file, which is returned at its
// start.
func (n *node) copyOut(ctx context.Context, name string) (*os.File, error) {
	out, err := n.engine.CopyFromContainer(ctx, n.container, client.CopyFromContainerOptions{SourcePath: name})
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
		discard(f)
		return nil, err
	}
	return f, nil
}

func discard(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name())
}
