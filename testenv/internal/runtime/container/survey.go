package container

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

// Survey is what an engine of this machine has. Nothing is changed for it.
type Survey struct {
	// Host is the engine's address, FoundBy what named it.
	Host, FoundBy string
	// Version is the engine's.
	Version string
	// Base and Maven say whether the images are there that have Java and Maven.
	Base, Maven bool
	// Images are the names of the broker images, ImageBytes their size together; layers
	// that they share are counted for each.
	Images     []string
	ImageBytes int64
	// Containers is how many belong to sessions, those of running tests among them.
	Containers int
}

// Look surveys the engine within ctx. The error of a machine that has none is ErrNoEngine.
func Look(ctx context.Context, base string) (Survey, error) {
	answered, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	provider, err := connect(answered)
	if err != nil {
		return Survey{}, err
	}
	defer provider.Close()
	engine := provider.Client()
	s := Survey{Host: engine.DaemonHost(), FoundBy: foundBy(engine.DaemonHost(), provider)}
	if err := s.ask(ctx, engine, base); err != nil {
		return Survey{}, fmt.Errorf("%w: the one at %s does not say what it has: %w", ErrNoEngine, s.Host, err)
	}
	return s, nil
}

func (s *Survey) ask(ctx context.Context, engine client.APIClient, base string) error {
	version, err := engine.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return err
	}
	s.Version = version.Version
	r := Runtime{engine: engine}
	if s.Base, err = r.has(ctx, base); err != nil {
		return err
	}
	if s.Maven, err = r.has(ctx, dist.DefaultMavenImage); err != nil {
		return err
	}
	images, err := engine.ImageList(ctx, client.ImageListOptions{Filters: make(client.Filters).Add("label", imageLabel+"=image")})
	if err != nil {
		return err
	}
	for _, i := range images.Items {
		tags := slices.DeleteFunc(i.RepoTags, func(tag string) bool { return strings.HasPrefix(tag, "<none>") })
		s.Images = append(s.Images, tags...)
		s.ImageBytes += i.Size
	}
	slices.Sort(s.Images)
	containers, err := engine.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", supervisor.Label)})
	s.Containers = len(containers.Items)
	return err
}

// foundBy follows the order in which testcontainers-go looks for an engine.
func foundBy(host string, provider *testcontainers.DockerProvider) string {
	switch {
	case provider.Config().Config.TestcontainersHost == host:
		return "tc.host in ~/.testcontainers.properties"
	case os.Getenv("DOCKER_HOST") == host:
		return "DOCKER_HOST"
	case strings.HasSuffix(host, "/var/run/docker.sock"):
		return "the default socket"
	case provider.Config().Config.Host == host:
		return "docker.host in ~/.testcontainers.properties"
	}
	return "a rootless socket"
}
