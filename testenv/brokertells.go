package testenv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime"
)

// What a broker tells of itself after a change: its version and its settings.

var (
	kafkaLogsVersion  = regexp.MustCompile(`Kafka version ?: (\S+)`)
	pulsarLogsVersion = regexp.MustCompile(`Starting Pulsar Broker service; version: '([^']+)'`)
)

func firstGroup(pattern *regexp.Regexp) func(string) string {
	return func(text string) string {
		if m := pattern.FindStringSubmatch(text); m != nil {
			return m[1]
		}
		return ""
	}
}

func (k *Kafka) tells(ctx context.Context, b *Broker, c Change, logs map[string]int64) error {
	for _, n := range b.nodes {
		id, err := strconv.Atoi(strings.TrimPrefix(n.Name(), "kafka-"))
		if err != nil {
			continue // the ZooKeeper
		}
		if c.Version != "" {
			if err := loggedVersion(ctx, n.LogFile(), logs[n.LogFile()], firstGroup(kafkaLogsVersion), c.Version); err != nil {
				return fmt.Errorf("%s: %w", n.Name(), err)
			}
		}
		if len(c.Config) == 0 {
			continue
		}
		got, err := k.settings(ctx, id)
		if err != nil {
			return fmt.Errorf("ask %s for its settings: %w", n.Name(), err)
		}
		if err := configured(c.Config, got); err != nil {
			return fmt.Errorf("%s: %w", n.Name(), err)
		}
	}
	return nil
}

// settings are those that a broker runs with (KIP-133, from 0.11 on).
func (k *Kafka) settings(ctx context.Context, id int) (map[string]string, error) {
	if dist.Before(k.version, 0, 11) {
		return nil, errors.New("before 0.11 a broker does not tell them")
	}
	r := kmsg.NewPtrDescribeConfigsRequest()
	one := kmsg.NewDescribeConfigsRequestResource()
	one.ResourceType, one.ResourceName = kmsg.ConfigResourceTypeBroker, strconv.Itoa(id)
	r.Resources = append(r.Resources, one)
	r.SetVersion(1)
	answer, err := kafkaRoundTrip(ctx, k.link(id), r)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, resource := range answer.(*kmsg.DescribeConfigsResponse).Resources {
		if resource.ErrorCode != 0 {
			return nil, fmt.Errorf("answered with error code %d", resource.ErrorCode)
		}
		for _, config := range resource.Configs {
			if config.Value != nil {
				all[config.Name] = *config.Value
			}
		}
	}
	return all, nil
}

func (p *Pulsar) tells(ctx context.Context, b *Broker, c Change, logs map[string]int64) error {
	if c.Version != "" {
		log := b.nodes[0].LogFile()
		if err := loggedVersion(ctx, log, logs[log], firstGroup(pulsarLogsVersion), c.Version); err != nil {
			return err
		}
	}
	if len(c.Config) == 0 {
		return nil
	}
	var got map[string]string
	if err := p.Admin(ctx, http.MethodGet, "/admin/v2/brokers/configuration/runtime", nil, &got); err != nil {
		return err
	}
	return configured(c.Config, got)
}

// Request codes of RocketMQ's remoting protocol (RequestCode.java).
const (
	getBrokerConfig = 26
	getBrokerInfo   = 28
)

func (r *RocketMQ) tells(ctx context.Context, b *Broker, c Change, _ map[string]int64) error {
	if !slices.ContainsFunc(b.nodes, func(n runtime.Node) bool { return n.Name() == broker.RocketMQBroker }) {
		return errors.New("a name server and a proxy do not tell their version and settings")
	}
	if c.Version != "" {
		_, want := RocketMQSpec{}.versions(c.Version)
		var info remotingCommand
		// A broker that has just started has no statistics, and refuses to tell the rest.
		_, err := poll.Until(ctx, poll.Options{Budget: b.env.scaled(readyAnswers)}, func(ctx context.Context) (err error) {
			info, err = r.server(ctx, remotingCommand{Code: getBrokerInfo})
			return err
		})
		if err != nil {
			return err
		}
		var told struct {
			Table map[string]string `json:"table"`
		}
		if err := json.Unmarshal(info.Body, &told); err != nil {
			return fmt.Errorf("decode what the broker tells of itself: %w", err)
		}
		// V5_5_0 is 5.5.0.
		got := strings.ReplaceAll(strings.TrimPrefix(told.Table["brokerVersionDesc"], "V"), "_", ".")
		if got != want {
			return fmt.Errorf("the broker tells the version %q, not %q", got, want)
		}
	}
	if len(c.Config) == 0 {
		return nil
	}
	answer, err := r.server(ctx, remotingCommand{Code: getBrokerConfig})
	if err != nil {
		return err
	}
	got := map[string]string{}
	for line := range strings.Lines(string(answer.Body)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		got[key] = value
	}
	return configured(c.Config, got)
}
