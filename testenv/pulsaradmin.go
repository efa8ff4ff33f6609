package testenv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
)

// adminLimit bounds one administrative call.
const adminLimit = 20 * time.Second

// Admin calls the broker's admin interface, past the link. body and answer may be nil;
// both are JSON. An answer that is not 2xx is an error with the broker's words.
func (p *Pulsar) Admin(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, p.env.scaled(adminLimit))
	defer cancel()
	address, err := p.nodes[0].Address(broker.PulsarHTTP)
	if err != nil {
		return err
	}
	var in bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&in).Encode(body); err != nil {
			return fmt.Errorf("encode the request of %s %s: %w", method, path, err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, &in)
	if err != nil {
		return fmt.Errorf("make the request of %s %s: %w", method, path, err)
	}
	r.Header.Set("Content-Type", "application/json")
	got, err := p.http.Do(r)
	if err != nil {
		return err // it names method and address
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return fmt.Errorf("read the answer of %s %s: %w", method, path, err)
	}
	if got.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, got.Status, strings.TrimSpace(string(text)))
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("decode the answer of %s %s: %w", method, path, err)
	}
	return nil
}

// PulsarQuota is a backlog quota of a namespace. A limit that is zero does not hold.
type PulsarQuota struct {
	// LimitSize is in bytes.
	LimitSize int64
	// LimitTime is in seconds: the age of the oldest unacknowledged message.
	LimitTime int
	// Policy is producer_exception, producer_request_hold or consumer_backlog_eviction.
	Policy string
	// Type is destination_storage, with LimitSize, or message_age, with LimitTime; empty is the former.
	Type string
}

// SetBacklogQuota sets a quota of a namespace, "tenant/name".
func (p *Pulsar) SetBacklogQuota(ctx context.Context, namespace string, q PulsarQuota) error {
	if q.Type == "" {
		q.Type = "destination_storage"
	}
	limits := map[string]any{"policy": q.Policy, "limitSize": -1, "limitTime": -1}
	if q.LimitSize > 0 {
		limits["limitSize"] = q.LimitSize
	}
	if q.LimitTime > 0 {
		limits["limitTime"] = q.LimitTime
	}
	return p.Admin(ctx, http.MethodPost, "/admin/v2/namespaces/"+namespace+"/backlogQuota?backlogQuotaType="+q.Type, limits, nil)
}

// CreateNamespace makes a namespace in the tenant "public" that keeps what has been acknowledged, and returns
// "public/name".
func (p *Pulsar) CreateNamespace(ctx context.Context, name string) (string, error) {
	namespace := "public/" + name
	if err := p.Admin(ctx, http.MethodPut, "/admin/v2/namespaces/"+namespace, nil, nil); err != nil {
		return "", err
	}
	keep := map[string]int{"retentionTimeInMinutes": -1, "retentionSizeInMB": -1}
	return namespace, p.Admin(ctx, http.MethodPost, "/admin/v2/namespaces/"+namespace+"/retention", keep, nil)
}

// CreateSubscription makes a subscription at the topic's beginning, and the topic with it.
func (p *Pulsar) CreateSubscription(ctx context.Context, topic, subscription string) error {
	earliest := map[string]any{"ledgerId": -1, "entryId": -1, "partitionIndex": -1}
	return p.Admin(ctx, http.MethodPut, topicPath(topic)+"/subscription/"+url.PathEscape(subscription), earliest, nil)
}

// CreatePartitionedTopic makes a topic of that many partitions.
func (p *Pulsar) CreatePartitionedTopic(ctx context.Context, topic string, partitions int) error {
	return p.Admin(ctx, http.MethodPut, topicPath(topic)+"/partitions", partitions, nil)
}

// ClearBacklog skips everything that a subscription has not acknowledged.
func (p *Pulsar) ClearBacklog(ctx context.Context, topic, subscription string) error {
	return p.Admin(ctx, http.MethodPost, topicPath(topic)+"/subscription/"+url.PathEscape(subscription)+"/skip_all", nil, nil)
}

// PulsarTopicStats is the part of a topic's statistics that scenarios use.
type PulsarTopicStats struct {
	BacklogSize   int64      `json:"backlogSize"`
	Publishers    []struct{} `json:"publishers"`
	Subscriptions map[string]struct {
		MsgBacklog int64 `json:"msgBacklog"`
	} `json:"subscriptions"`
}

// TopicStats asks for a topic's statistics, with the precise backlog.
func (p *Pulsar) TopicStats(ctx context.Context, topic string) (PulsarTopicStats, error) {
	var s PulsarTopicStats
	return s, p.Admin(ctx, http.MethodGet, topicPath(topic)+"/stats?getPreciseBacklog=true", nil, &s)
}

// topicPath is the admin path of "persistent://tenant/namespace/name".
func topicPath(topic string) string {
	domain, rest, _ := strings.Cut(topic, "://")
	return "/admin/v2/" + domain + "/" + rest
}
