package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/exec"

	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// disk is a tmpfs at the data directory of a node.
type disk struct {
	dir   string
	limit int64
	// run runs a command in the container that keeps it mounted.
	run func(ctx context.Context, cmd []string, options ...exec.ProcessOption) (int, io.Reader, error)
}

// Disk implements runtime.Node.
func (n *node) Disk() (runtime.Disk, error) {
	switch {
	case n.node.DataLimit == 0:
		return nil, fmt.Errorf("the data of %s lie on the engine's disk, which others need: give it a DataLimit", n.Name())
	case n.disk == nil:
		return nil, fmt.Errorf("%s was never started, so its data have no disk yet", n.Name())
	}
	return n.disk, nil
}

// makeDisk makes the disk, if the node is to have one. The volume has no name, so that it
// goes with the last container that has it mounted.
func (n *node) makeDisk(ctx context.Context) error {
	if n.node.DataLimit == 0 || n.disk != nil {
		return nil
	}
	d := &disk{dir: path.Join(home, n.node.Data), limit: n.node.DataLimit}
	made, err := n.provider.CreateContainer(ctx, testcontainers.ContainerRequest{
		Name:           n.keeper(),
		Image:          n.image,
		Entrypoint:     []string{"sleep"},
		Cmd:            []string{"infinity"},
		Labels:         map[string]string{supervisor.Label: n.session.ID},
		ConfigModifier: func(c *container.Config) { c.User = "0" },
		HostConfigModifier: func(h *container.HostConfig) {
			h.NetworkMode = "none"
			h.Mounts = []mount.Mount{{
				Type:   mount.TypeVolume,
				Target: d.dir,
				VolumeOptions: &mount.VolumeOptions{
					Labels: map[string]string{supervisor.Label: n.session.ID},
					DriverConfig: &mount.Driver{Name: "local", Options: map[string]string{
						"type": "tmpfs", "device": "tmpfs", "o": fmt.Sprintf("size=%d", n.node.DataLimit),
					}},
				},
			}}
		},
	})
	if err == nil {
		d.run = made.Exec
		_, err = n.engine.ContainerStart(ctx, n.keeper(), client.ContainerStartOptions{})
	}
	if err != nil {
		tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
		defer cancel()
		return errors.Join(err, n.removeContainer(tidy, n.keeper()))
	}
	n.disk = d
	return nil
}

// removeDisk is for a node whose own container is gone: its data are thrown away.
func (n *node) removeDisk(ctx context.Context) error {
	if n.node.DataLimit == 0 {
		return nil
	}
	return n.removeContainer(ctx, n.keeper())
}

// keeper is the name of the container that keeps the disk mounted.
func (n *node) keeper() string { return n.container + "-disk" }

// filler is the file that fills the disk, beside those of the broker. A broker looks at
// directories, or at files whose names it knows.
const filler = ".brokerfault-filler"

// fill writes until there is no room, three times over with nothing to be added: a broker
// may still be writing, and give back what it could not finish. An engine that gave the
// directory no disk of its own would have its machine filled; the kernel rounds a limit up
// to whole pages, of 64 KiB at most.
const fill = `
size=$(df -P . | { read -r titles; read -r device size rest; echo "$size"; })
[ "$size" -le $((limit / 1024 + 64)) ] || { echo "it has $size KiB, not the $((limit / 1024)) of its limit, so it may be a disk that others need"; exit 1; }
: >>` + filler + ` || exit 1
try=0 none=0
while [ $none -lt 3 ]; do
	[ -e ` + filler + ` ] || { echo "it was cleared meanwhile"; exit 1; }
	[ $try -lt 100 ] || { echo "there is room again and again"; exit 1; }
	try=$((try + 1)) before=$(wc -c <` + filler + `)
	why=$(cat /dev/zero 2>&1 >>` + filler + `)
	case $why in
	*"No space left on device"*) ;;
	*) echo "$why"; exit 1 ;;
	esac
	if [ "$before" = "$(wc -c <` + filler + `)" ]; then none=$((none + 1)); else none=0; fi
	sleep 0.1
done`

// full asks how much room there is, and does not believe that there is none before it was
// not given a page.
const full = `
room=$(df -P . | { read -r titles; read -r device size used room rest; echo "$room"; })
[ "$room" = 0 ] || { echo "there is room for $room KiB"; exit 1; }
why=$(head -c 4096 /dev/zero 2>&1 >.brokerfault-page)
rm -f .brokerfault-page
case $why in
*"No space left on device"*) ;;
*) echo "4 KiB could be written: $why"; exit 1 ;;
esac`

func (d *disk) Fill(ctx context.Context) error {
	return d.sh(ctx, fmt.Sprintf("limit=%d\n", d.limit)+fill)
}
func (d *disk) Full(ctx context.Context) error  { return d.sh(ctx, full) }
func (d *disk) Clear(ctx context.Context) error { return d.sh(ctx, "rm -f "+filler) }

// sh runs a script in the directory.
func (d *disk) sh(ctx context.Context, script string) error {
	status, output, err := d.run(ctx, []string{"/bin/sh", "-c", "cd " + d.dir + " || exit 1\n" + script},
		exec.Multiplexed(), exec.WithEnv([]string{"LC_ALL=C"}))
	if err != nil {
		return err
	}
	said, err := io.ReadAll(output)
	if err != nil {
		return err
	}
	if status != 0 {
		return fmt.Errorf("%s (exit status %d)", strings.TrimSpace(string(said)), status)
	}
	return nil
}
