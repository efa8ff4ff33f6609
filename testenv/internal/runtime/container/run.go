package container

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

const (
	// lastLines is how long the engine may take to deliver the rest of the
	// output after a container's end.
	lastLines = 5 * time.Second
	// tidyLimit is how long a clean-up may take whose caller's context has ended.
	tidyLimit = 10 * time.Second
)

// run is one run of a container, from a start to the end.
type run struct {
	// asked says that the node was asked to end.
	asked atomic.Bool
	// over is closed when the container has ended and its output is written.
	over chan struct{}
	// cancel gives up waiting for the end.
	cancel context.CancelFunc
}

func (n *node) running() bool {
	if n.run == nil {
		return false
	}
	select {
	case <-n.run.over:
		return false
	default:
		return true
	}
}

// begin starts the container. It waits for the end and listens to the output
// before there is any: no line and no quick end is missed, and since nothing
// of an earlier run is heard, nothing is written twice.
func (n *node) begin(ctx context.Context) error {
	life, cancel := context.WithCancel(context.Background())
	starting := context.AfterFunc(ctx, cancel)
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		cancel()
		return fmt.Errorf("open its log: %w", err)
	}
	output, err := n.engine.ContainerAttach(life, n.container, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		if !starting() && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		cancel()
		log.Close()
		return fmt.Errorf("listen to its output: %w", err)
	}
	r := &run{over: make(chan struct{}), cancel: cancel}
	end := n.engine.ContainerWait(life, n.container, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		defer log.Close()
		_, _ = stdcopy.StdCopy(log, log, output.Reader)
	}()
	n.run = r
	n.watches.Go(func() { n.watch(r, end, followed, output.Close) })

	_, err = n.engine.ContainerStart(ctx, n.container, client.ContainerStartOptions{})
	if !starting() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		n.abandon()
		return err
	}
	return nil
}

// watch waits for the end of a run, and tells if nobody asked for it.
func (n *node) watch(r *run, end client.ContainerWaitResult, followed <-chan struct{}, stop func()) {
	var how error
	rest := lastLines
	select {
	case e := <-end.Result:
		how = n.explain(e)
	case err := <-end.Error:
		how = fmt.Errorf("lose sight of the container: %w", err)
		rest = 0
	}
	n.setAddresses(nil)
	r.cancel()
	late := time.AfterFunc(rest, stop)
	<-followed
	late.Stop()
	stop()
	close(r.over)
	if !r.asked.Load() && n.died != nil {
		n.died(n.Name(), how)
	}
}

// explain says how a container ended.
func (n *node) explain(e container.WaitResponse) error {
	how := fmt.Errorf("exit status %d", e.StatusCode)
	if e.Error != nil {
		how = fmt.Errorf("%w: %s", how, e.Error.Message)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastLines)
	defer cancel()
	found, err := n.engine.ContainerInspect(ctx, n.container, client.ContainerInspectOptions{})
	if err == nil && found.Container.State != nil && found.Container.State.OOMKilled {
		return fmt.Errorf("%w: out of memory, killed by the kernel", how)
	}
	return how
}

// abandon ends a run that could not be begun. Whether the container runs is
// not known, so it is killed.
func (n *node) abandon() {
	n.run.asked.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), tidyLimit)
	defer cancel()
	_, err := n.engine.ContainerKill(ctx, n.container, client.ContainerKillOptions{Signal: "KILL"})
	if err != nil {
		// Nothing will end that could be waited for.
		n.run.cancel()
	}
	_ = n.awaitEnd(ctx)
	n.run.cancel()
}

// awaitEnd waits until the run is over.
func (n *node) awaitEnd(ctx context.Context) error {
	select {
	case <-n.run.over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the end: %w", context.Cause(ctx))
	}
}
