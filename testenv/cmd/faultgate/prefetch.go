package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/backend"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/prefetch"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
	"github.com/brokerfault/brokerfault/testenv/internal/settings"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
)

type fetch struct {
	options
	clients, brokers []string
	all              bool
}

func newPrefetch() *cobra.Command {
	var p fetch
	c := &cobra.Command{
		Use:   "prefetch [flags]",
		Short: "download now what runs would download, for runs without a network",
		Long: "prefetch gets the Go modules, builds the tests, and gets the jars, or makes the images, of the broker versions\n" +
			"of the settings and of those that the cases list. With --broker it is those versions only. It exits with 3 if\n" +
			"something could not be had.",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return p.run(c) },
	}
	f := c.Flags()
	f.StringSliceVar(&p.packages, "packages", []string{"./..."}, "the packages whose tests are built and whose cases are looked at")
	f.StringArrayVar(&p.clients, "client", nil, "also with this client: MODULE=VERSION[,VERSION...], once for each module")
	f.StringArrayVar(&p.brokers, "broker", nil, "these brokers only: pulsar, kafka or rocketmq=VERSION[,VERSION...]")
	f.BoolVar(&p.all, "all", false, "also the client versions that the cases list: all that controls runs with")
	f.StringVar(&p.runtime, "runtime", "", "where brokers will run: auto, container or process, which needs no image (BROKERFAULT_BACKEND)")
	f.BoolVar(&p.json, "json", false, "print JSON instead of a table")
	return c
}

func (p *fetch) run(c *cobra.Command) error {
	clients, err := suite.Sets(p.clients, nil)
	if err != nil {
		return err
	}
	brokers, err := suite.Sets(nil, p.brokers)
	if err != nil {
		return err
	}
	in, err := settings.FromEnvironment()
	if err != nil {
		return environment(c, err)
	}
	s, err := p.suite(c, nil)
	if err != nil {
		return err
	}
	if err := s.Requires(c.Context(), clients[0].Modules()...); err != nil {
		return err
	}
	if p.runtime != "" {
		in.Backend = p.runtime
	}
	f := prefetch.Fetcher{
		Suite:    s,
		Progress: func(format string, args ...any) { _, _ = fmt.Fprintf(s.Stderr, format+"\n", args...) },
		Runtime: func(ctx context.Context) (runtime.Runtime, error) {
			return backend.New(ctx, backend.Choice{Backend: in.Backend, Cache: in.Cache, BaseImage: in.BaseImage})
		},
	}
	var want prefetch.Wanted
	want.AddClients(nil)
	for _, set := range clients {
		want.AddClients(set.Clients)
	}
	for _, set := range brokers {
		for _, b := range set.Brokers {
			want.AddBroker(b)
		}
	}
	if err := p.addListed(c, s, in, &want); err != nil {
		return err
	}
	result := prefetch.Result{Items: f.Modules(c.Context(), want)}
	result.Items = append(result.Items, f.Brokers(c.Context(), want)...)
	result.Interrupted = c.Context().Err() != nil
	n := gate.ExitOK
	if !result.Complete() {
		n = gate.ExitEnvironment
	}
	return p.print(c, shown{result: result, text: result.Text()}, n)
}

// addListed adds what the settings and the cases name, unless --broker names brokers and
// no case has to be asked for its clients.
func (p *fetch) addListed(c *cobra.Command, s *suite.Suite, in settings.Settings, want *prefetch.Wanted) error {
	if len(p.brokers) == 0 {
		for _, b := range in.Brokers() {
			want.AddBroker(suite.Broker{Name: b.Broker, Version: b.Version})
		}
	} else if !p.all {
		return nil
	}
	cases, err := s.List(c.Context())
	if err != nil {
		return environment(c, err)
	}
	want.AddListed(cases, len(p.brokers) == 0, p.all)
	return nil
}
