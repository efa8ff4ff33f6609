package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/supervisor"
)

const (
	defaultBase = "eclipse-temurin:17-jre"

	connectLimit = 3 * time.Second
	answerLimit  = 2 * time.Second
)

// ErrNoEngine says that no container engine of this machine answers.
var ErrNoEngine = errors.New("no container engine answers")

const remedy = "start Docker, set DOCKER_HOST to the socket of an engine on this machine, or run brokers as processes (BROKERFAULT_BACKEND=process)"

// Options are what a Runtime is made with.
type Options struct {
	// Cache has the jars, and the locks of images being made.
	Cache *dist.Cache
	// Base is the image that has Java; empty means eclipse-temurin:17-jre.
	Base string
	// Maven is the image that resolves jars where this machine has no Maven;
	// empty means maven:3-eclipse-temurin-17.
	Maven string
}

// Runtime runs nodes as containers.
type Runtime struct {
	cache    *dist.Cache
	base     string
	maven    string
	session  *supervisor.Session
	provider *testcontainers.DockerProvider
	engine   client.APIClient
}

// New connects to the engine. The error of a machine that has none is ErrNoEngine.
func New(ctx context.Context, o Options) (*Runtime, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	provider, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	r := &Runtime{
		cache: o.Cache, base: o.Base, maven: o.Maven,
		provider: provider, engine: provider.Client(),
	}
	if r.base == "" {
		r.base = defaultBase
	}
	if r.maven == "" {
		r.maven = dist.DefaultMavenImage
	}
	if r.session, err = supervisor.Current(); err != nil {
		return nil, err
	}
	if err := r.session.OwnsContainers(r.engine.DaemonHost()); err != nil {
		return nil, err
	}
	return r, nil
}

// Answers says whether an engine of this machine answers at once.
func Answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	provider, err := connect(ctx)
	if err != nil {
		return err
	}
	return provider.Close()
}

// Name is "container".
func (*Runtime) Name() string { return "container" }

// Relays is true: Docker's port proxy takes a connection first, and ends it when it then
// finds that nobody in the container listens.
func (*Runtime) Relays() bool { return true }

// connect finds the engine. testcontainers-go takes no context for that, so a
// stuck engine is waited for on another goroutine, no longer than ctx lasts.
func connect(ctx context.Context) (*testcontainers.DockerProvider, error) {
	// The reaper is an image of its own, which has to be pulled and wants the
	// engine's socket. The supervisor does its work.
	if _, set := os.LookupEnv("TESTCONTAINERS_RYUK_DISABLED"); !set {
		if err := os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"); err != nil {
			return nil, fmt.Errorf("disable the reaper of testcontainers: %w", err)
		}
	}
	type found struct {
		provider *testcontainers.DockerProvider
		err      error
	}
	answer := make(chan found, 1)
	go func() {
		provider, err := testcontainers.NewDockerProvider(testcontainers.DockerProviderOptionFunc(silent))
		answer <- found{provider, err}
	}()
	select {
	case f := <-answer:
		if f.err != nil {
			if want := os.Getenv("DOCKER_HOST"); want != "" {
				return nil, fmt.Errorf("%w at DOCKER_HOST=%s: %w: %s", ErrNoEngine, want, f.err, remedy)
			}
			return nil, fmt.Errorf("%w: %w: %s", ErrNoEngine, f.err, remedy)
		}
		host := f.provider.Client().DaemonHost()
		// testcontainers-go takes the default socket if DOCKER_HOST does not
		// answer, but who named an engine wants no other.
		want := os.Getenv("DOCKER_HOST")
		if want != "" && want != host && f.provider.Config().Config.TestcontainersHost == "" {
			return nil, fmt.Errorf("%w at DOCKER_HOST=%s: %s", ErrNoEngine, want, remedy)
		}
		if _, err := f.provider.Client().Ping(ctx, client.PingOptions{}); err != nil {
			return nil, fmt.Errorf("%w at %s: %w: %s", ErrNoEngine, host, err, remedy)
		}
		if err := onThisMachine(host); err != nil {
			return nil, err
		}
		return f.provider, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: not at once: %w: %s", ErrNoEngine, context.Cause(ctx), remedy)
	}
}

// onThisMachine refuses an engine whose loopback is not ours: what it
// publishes there could not be reached, and publishing to more than loopback
// would show test brokers to a network.
func onThisMachine(host string) error {
	u, err := url.Parse(host)
	if err != nil {
		return fmt.Errorf("read the engine's address %q: %w", host, err)
	}
	switch u.Scheme {
	case "unix", "npipe":
		return nil
	}
	name := u.Hostname()
	if ip := net.ParseIP(name); name == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%w on this machine: %s is elsewhere, and ports are published on loopback: %s", ErrNoEngine, host, remedy)
}

func silent(o *testcontainers.DockerProviderOptions) { o.Logger = log.NewNoopLogger() }

// testcontainers-go greets with ten lines on standard error at its first
// contact with an engine. Only these are dropped: the logger may serve a
// user's own containers as well. It is set here because later would be a race.
func init() { log.SetDefault(ungreeted{log.Default()}) }

type ungreeted struct{ log.Logger }

func (u ungreeted) Printf(format string, args ...any) {
	if !strings.Contains(format, "Connected to docker") {
		u.Logger.Printf(format, args...)
	}
}
