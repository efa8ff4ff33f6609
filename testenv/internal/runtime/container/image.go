package container

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/gofrs/flock"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

const (
	imageLabel = "io.brokerfault"
	// layout is part of the tag: count it up when what lies where in an image changes.
	layout = "1"
	// lockPoll is how often a lock held by another process is tried.
	lockPoll = 200 * time.Millisecond
)

type progress func(format string, args ...any)

// image gives the reference of the image of a bill, which it makes if need be.
func (r *Runtime) image(ctx context.Context, bill dist.Bill, tell progress) (string, error) {
	base, err := r.pull(ctx, r.base, tell)
	if err != nil {
		return "", fmt.Errorf("get the base image %q: %w; load it into the engine, or set BROKERFAULT_BASE_IMAGE to an image that has Java 17 or newer", r.base, err)
	}
	repo := "brokerfault/" + bill.Broker
	sum := sha256.Sum256([]byte(layout + "\n" + bill.Key() + "\n" + base))
	tag := strings.ReplaceAll(strings.ToLower(bill.Version), "+", "_") + "-" + hex.EncodeToString(sum[:])[:12]
	return r.once(ctx, repo, tag, tell, func() (*dist.Archive, error) { return r.buildContext(ctx, bill, tell) })
}

// once makes an image that is not there, and gives its reference.
func (r *Runtime) once(ctx context.Context, repo, tag string, tell progress, prepare func() (*dist.Archive, error)) (string, error) {
	there, err := r.has(ctx, repo+":"+tag)
	if err != nil || there {
		return repo + ":" + tag, err
	}
	unlock, err := r.lock(ctx, strings.ReplaceAll(repo, "/", "-")+"-"+tag)
	if err != nil {
		return "", err
	}
	defer unlock()
	if there, err = r.has(ctx, repo+":"+tag); err != nil || there {
		return repo + ":" + tag, err
	}
	archive, err := prepare()
	if err != nil {
		return "", err
	}
	defer archive.Close()
	tell("make the image %s:%s", repo, tag)
	return repo + ":" + tag, r.build(ctx, repo, tag, archive)
}

// Prepare makes the image, or pulls what it is made of.
func (r *Runtime) Prepare(ctx context.Context, bill dist.Bill, tell func(format string, args ...any)) (runtime.Prepared, error) {
	made, err := r.whole(ctx, bill, tell)
	if err != nil {
		return runtime.Prepared{}, err
	}
	info, err := r.engine.ImageInspect(ctx, made.ref)
	if err != nil {
		return runtime.Prepared{}, fmt.Errorf("look at the image %s: %w", made.ref, err)
	}
	return runtime.Prepared{Name: made.ref, Bytes: info.Size}, nil
}

// buildContext prefers the jars of this machine, where the user's Maven
// settings and mirrors hold.
func (r *Runtime) buildContext(ctx context.Context, bill dist.Bill, tell progress) (*dist.Archive, error) {
	jars, err := r.cache.Telling(tell).Jars(ctx, bill)
	if err == nil {
		return jars.BuildContext(r.base)
	}
	if !errors.Is(err, dist.ErrNoMaven) {
		return nil, err
	}
	if _, err := r.pull(ctx, r.maven, tell); err != nil {
		return nil, fmt.Errorf("get jars without Maven on this machine: get the image %q: %w; install Maven, or load that image into the engine", r.maven, err)
	}
	return bill.BuildStage(r.base, r.maven)
}

func (r *Runtime) build(ctx context.Context, repo, tag string, archive *dist.Archive) error {
	var output bytes.Buffer
	_, err := r.provider.BuildImage(ctx, &testcontainers.ContainerRequest{
		FromDockerfile: testcontainers.FromDockerfile{
			ContextArchive: archive,
			Repo:           repo,
			Tag:            tag,
			KeepImage:      true,
			BuildLogWriter: &output,
			BuildOptionsModifier: func(o *client.ImageBuildOptions) {
				o.Labels = map[string]string{imageLabel: "image"}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("make the image %s:%s: %w; the build's last lines:\n%s", repo, tag, err, tail(output.String(), 20))
	}
	return nil
}

// pull gives the ID of an image, which is pulled if the engine has it not.
func (r *Runtime) pull(ctx context.Context, ref string, tell progress) (string, error) {
	info, err := r.engine.ImageInspect(ctx, ref)
	if errdefs.IsNotFound(err) {
		tell("pull the image %s", ref)
		if err := r.provider.PullImage(ctx, ref); err != nil {
			return "", err
		}
		info, err = r.engine.ImageInspect(ctx, ref)
	}
	return info.ID, err
}

func (r *Runtime) has(ctx context.Context, ref string) (bool, error) {
	_, err := r.engine.ImageInspect(ctx, ref)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the image %s: %w", ref, err)
	}
	return true, nil
}

// lock keeps two processes from making the same image at once, which would
// cost both the time and leave an image without a name.
func (r *Runtime) lock(ctx context.Context, name string) (unlock func(), err error) {
	dir := filepath.Join(r.cache.Dir, "images")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of image locks: %w", err)
	}
	lock := flock.New(filepath.Join(dir, name+".lock"))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return nil, fmt.Errorf("wait for another process to make the image (%s): %w", lock.Path(), err)
	}
	return func() { _ = lock.Close() }, nil
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
