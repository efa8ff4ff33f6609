package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moby/moby/client"
)

// Label is on every container, network and volume of a session; its value is the session's id.
const Label = "io.brokerfault.session"

// removeContainers removes what carries the session's label. A request to
// create a container may still be on its way to the engine when its sender is
// killed, so the engine has to have said "none" for a while. An error means that
// something may be left.
func removeContainers(engine, session string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cli, err := client.New(client.WithHost(engine))
	if err != nil {
		return fmt.Errorf("reach the container engine at %q: %w", engine, err)
	}
	defer cli.Close()
	if err := answers(ctx, cli); err != nil {
		return fmt.Errorf("reach the container engine at %q: %w", engine, err)
	}
	const quiet = 4
	for none := 0; none < quiet; {
		found, err := removeOnce(ctx, cli, session)
		switch {
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), err)
		case found || err != nil:
			none = 0
		default:
			none++
		}
		time.Sleep(150 * time.Millisecond)
	}
	return nil
}

// answers asks for a sign of life, which an engine gives at once.
func answers(ctx context.Context, cli *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_, err := cli.Ping(ctx, client.PingOptions{})
	return err
}

// removeOnce says whether there was anything to remove.
func removeOnce(ctx context.Context, cli *client.Client, session string) (found bool, err error) {
	filters := make(client.Filters).Add("label", Label+"="+session)
	containers, err := cli.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters})
	if err != nil {
		return false, err
	}
	for _, c := range containers.Items {
		found = true
		_, e := cli.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		err = errors.Join(err, e)
	}
	networks, e := cli.NetworkList(ctx, client.NetworkListOptions{Filters: filters})
	if e != nil {
		return found, errors.Join(err, e)
	}
	for _, n := range networks.Items {
		found = true
		_, e := cli.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
		err = errors.Join(err, e)
	}
	// Those that went with their containers are not there any more.
	volumes, e := cli.VolumeList(ctx, client.VolumeListOptions{Filters: filters})
	if e != nil {
		return found, errors.Join(err, e)
	}
	for _, v := range volumes.Items {
		found = true
		_, e := cli.VolumeRemove(ctx, v.Name, client.VolumeRemoveOptions{})
		err = errors.Join(err, e)
	}
	return found, err
}
