package container

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/headstart"
)

// classList is the file that a node without an archive writes its classes to.
const classList = home + "/classes.txt"

// image is an image, and the main classes of which it has class-data archives.
type image struct {
	ref     string
	classes map[string]bool
}

// whole makes the image of a bill, with class-data archives where it can have them.
func (r *Runtime) whole(ctx context.Context, bill dist.Bill, tell progress) (image, error) {
	ref, err := r.image(ctx, bill, tell)
	if err != nil {
		return image{}, err
	}
	return r.withClasses(ctx, ref, bill.Key(), tell), nil
}

// withClasses adds class-data archives to an image, if it is known what goes
// into them. What fails here makes a start slower, no more.
func (r *Runtime) withClasses(ctx context.Context, ref, key string, tell progress) image {
	lists := headstart.New(r.cache.Dir, key, nil).Lists()
	if len(lists) == 0 {
		return image{ref: ref}
	}
	with, err := r.classImage(ctx, ref, lists, tell)
	if err != nil {
		tell("start %s without class archives: %v", ref, err)
		return image{ref: ref}
	}
	classes := map[string]bool{}
	for main := range lists {
		classes[main] = true
	}
	return image{ref: with, classes: classes}
}

func (r *Runtime) classImage(ctx context.Context, ref string, lists map[string]string, tell progress) (string, error) {
	sum := sha256.New()
	for _, main := range slices.Sorted(maps.Keys(lists)) {
		text, err := os.ReadFile(lists[main])
		if err != nil {
			return "", fmt.Errorf("read a list of classes: %w", err)
		}
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", main, len(text), text)
	}
	repo, tag, _ := strings.Cut(ref, ":")
	tag += "-classes-" + hex.EncodeToString(sum.Sum(nil))[:12]
	dump := headstart.Dump(`"$list"`, `"$archive"`, `"$classpath"`)
	return r.once(ctx, repo, tag, tell, func() (*dist.Archive, error) { return dist.ClassContext(ref, lists, dump) })
}

// classFlags let the JVM use the archive, or else write its classes down.
func (n *node) classFlags(main string) []string {
	if n.classes[main] {
		return headstart.Use(path.Join(dist.ClassDir, main+".jsa"))
	}
	return []string{headstart.Record(classList)}
}

// withHeadStart puts what an earlier node's setup made in the place of the setup. After
// the first start there is nothing left of what the setup made for itself.
func (n *node) withHeadStart(l broker.Launch) broker.Launch {
	if !n.begun && l.Makes != "" {
		var made map[string][]byte
		if made, n.copied = n.heads.Setup(l.MadeFrom); n.copied {
			l.Files = maps.Clone(l.Files)
		}
		for name, content := range made {
			l.Files[path.Join(l.Makes, name)] = string(content)
		}
	}
	if n.copied {
		l.Setup = nil
	}
	if n.begun {
		l.Makes = ""
	}
	return l
}

func (n *node) Keep(ctx context.Context) error {
	l := n.Launch()
	var errs error
	if !n.classes[l.Main.Class] {
		list, err := n.readOut(ctx, classList)
		if err == nil {
			err = n.heads.KeepClasses(l.Main.Class, list[path.Base(classList)])
		}
		errs = errors.Join(errs, err)
	}
	if l.Makes != "" && !n.copied {
		made, err := n.readOut(ctx, madeCopy)
		if err == nil {
			err = n.heads.KeepSetup(l.MadeFrom, made)
		}
		errs = errors.Join(errs, err)
	}
	if errs != nil {
		return fmt.Errorf("keep the head start of %s: %w", n.Name(), errs)
	}
	return nil
}

// readOut reads a file or the files below a directory of the container: content
// by path, that of the directory left out.
func (n *node) readOut(ctx context.Context, name string) (map[string][]byte, error) {
	found, err := n.engine.CopyFromContainer(ctx, n.container, client.CopyFromContainerOptions{SourcePath: name})
	if errdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer found.Content.Close()
	files := map[string][]byte{}
	for r := tar.NewReader(found.Content); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		file := h.Name
		if rest, is := strings.CutPrefix(file, path.Base(name)+"/"); is {
			file = rest
		}
		files[file] = content
	}
}
