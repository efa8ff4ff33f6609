package container

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

const (
	freezeLimit = 5 * time.Second
	freezePause = 50 * time.Millisecond
)

func (n *node) Stop(ctx context.Context) error {
	if !n.running() {
		return nil
	}
	n.run.asked.Store(true)
	err := n.signal(ctx, "TERM")
	if err == nil && n.awaitEnd(ctx) == nil {
		return nil
	}
	if ctx.Err() == nil {
		return fmt.Errorf("stop %s: %w", n.Name(), err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
	defer cancel()
	return n.Kill(ctx)
}

func (n *node) Kill(ctx context.Context) error {
	if !n.running() {
		return nil
	}
	n.run.asked.Store(true)
	err := n.signal(ctx, "KILL")
	if err == nil {
		err = n.awaitEnd(ctx)
	}
	if err != nil {
		return fmt.Errorf("kill %s: %w", n.Name(), err)
	}
	return nil
}

// signal asks a container to end. A paused one gets the signal first and goes
// on then, so that a killed one does not do a thing more.
func (n *node) signal(ctx context.Context, name string) error {
	_, err := n.engine.ContainerKill(ctx, n.container, client.ContainerKillOptions{Signal: name})
	if err != nil && !gone(err) {
		return err
	}
	if n.paused {
		// Engines let it go on by themselves, some of them.
		_, _ = n.engine.ContainerUnpause(ctx, n.container, client.ContainerUnpauseOptions{})
		n.paused = false
	}
	return nil
}

func (n *node) Pause(ctx context.Context) error {
	if !n.running() {
		return fmt.Errorf("pause %s: %w", n.Name(), runtime.ErrNotRunning)
	}
	if err := n.freeze(ctx); err != nil {
		return fmt.Errorf("pause %s: %w", n.Name(), err)
	}
	n.paused = true
	return nil
}

// freeze tries for a while: with cgroup v1, runc 1.1 was seen to give up on a
// busy machine ("unable to freeze") before all threads stood still. It thaws
// the container then.
func (n *node) freeze(ctx context.Context) error {
	limit := time.After(freezeLimit)
	for {
		_, err := n.engine.ContainerPause(ctx, n.container, client.ContainerPauseOptions{})
		if err == nil || !strings.Contains(err.Error(), "unable to freeze") {
			return err
		}
		select {
		case <-time.After(freezePause):
		case <-limit:
			return err
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

func (n *node) Resume(ctx context.Context) error {
	if !n.running() {
		return fmt.Errorf("resume %s: %w", n.Name(), runtime.ErrNotRunning)
	}
	if _, err := n.engine.ContainerUnpause(ctx, n.container, client.ContainerUnpauseOptions{}); err != nil {
		return fmt.Errorf("resume %s: %w", n.Name(), err)
	}
	n.paused = false
	return nil
}

func (n *node) DumpThreads(ctx context.Context) error {
	err := runtime.ErrNotRunning
	if n.running() {
		// An engine resumes a paused container that it sends a signal to.
		err = errors.New("it is paused")
		if !n.paused {
			_, err = n.engine.ContainerKill(ctx, n.container, client.ContainerKillOptions{Signal: "QUIT"})
		}
	}
	if err != nil {
		return fmt.Errorf("dump the threads of %s: %w", n.Name(), err)
	}
	return nil
}

// Close may be called again after an error.
func (n *node) Close(ctx context.Context) error {
	if n.closed {
		return nil
	}
	if n.run != nil {
		n.run.asked.Store(true)
	}
	if err := errors.Join(n.remove(ctx), n.removeDisk(ctx)); err != nil {
		return fmt.Errorf("close %s: %w", n.Name(), err)
	}
	if n.run != nil {
		if err := n.awaitWatches(ctx); err != nil {
			return fmt.Errorf("close %s: %w", n.Name(), err)
		}
	}
	if err := n.release(ctx); err != nil {
		return fmt.Errorf("close %s: %w", n.Name(), err)
	}
	n.closed = true
	return nil
}

// remove removes the container by its name: even one whose making was never
// answered.
func (n *node) remove(ctx context.Context) error {
	if err := n.removeContainer(ctx, n.container); err != nil {
		return err
	}
	n.made = false
	return nil
}

func (r *Runtime) removeContainer(ctx context.Context, name string) error {
	_, err := r.engine.ContainerRemove(ctx, name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove the container %q: %w", name, err)
	}
	return nil
}

// awaitWatches waits for the last run and for what Died was called with.
func (n *node) awaitWatches(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		n.watches.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		n.run.cancel()
		return fmt.Errorf("wait for its end to be told: %w", context.Cause(ctx))
	}
}
