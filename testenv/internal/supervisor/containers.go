package supervisor

import (
	"context"
	"time"

	"github.com/moby/moby/client"
)

// Label is on every container and network of a session; its value is the session's id.
const Label = "io.brokerfault.session"

// removeContainers removes what carries the session's label. A request to
// create a container may still be on its way to the engine when its sender is
// killed, so the engine has to have said "none" for a while.
func removeContainers(engine, session string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cli, err := client.New(client.WithHost(engine))
	if err != nil {
		return
	}
	defer cli.Close()
	const quiet = 4
	for none := 0; none < quiet && ctx.Err() == nil; {
		if removeOnce(ctx, cli, session) {
			none = 0
			continue
		}
		none++
		time.Sleep(150 * time.Millisecond)
	}
}

// removeOnce says whether there was anything to remove.
func removeOnce(ctx context.Context, cli *client.Client, session string) bool {
	filters := make(client.Filters).Add("label", Label+"="+session)
	found := false
	if all, err := cli.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters}); err == nil {
		for _, c := range all.Items {
			found = true
			_, _ = cli.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		}
	}
	if all, err := cli.NetworkList(ctx, client.NetworkListOptions{Filters: filters}); err == nil {
		for _, n := range all.Items {
			found = true
			_, _ = cli.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
		}
	}
	return found
}
