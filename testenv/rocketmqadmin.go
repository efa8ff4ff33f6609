package testenv

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/broker"
	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

// Request codes of RocketMQ's remoting protocol (RequestCode.java).
const (
	queryConsumerOffset = 14
	createTopic         = 17
	updateBrokerConfig  = 25
	getMaxOffset        = 30
	getRoute            = 105
	createGroup         = 200
)

// RocketMQTopic is a topic to be made.
type RocketMQTopic struct {
	Name string
	// Queues is the number of its queues; zero is 1.
	Queues int
	// Type is the type of message that it takes: NORMAL, FIFO, DELAY or
	// TRANSACTION. Empty is NORMAL.
	Type string
	// Attributes are further ones, as the admin tool takes them but without the
	// plus sign.
	Attributes map[string]string
}

// CreateTopic makes a topic, or changes it, and returns once the name server
// has its route.
func (r *RocketMQ) CreateTopic(ctx context.Context, t RocketMQTopic) error {
	queues := strconv.Itoa(max(1, t.Queues))
	kind := t.Type
	if kind == "" {
		kind = "NORMAL"
	}
	attributes := "+message.type=" + kind
	for name, value := range t.Attributes {
		attributes += ",+" + name + "=" + value
	}
	_, err := r.server(ctx, remotingCommand{Code: createTopic, Fields: map[string]string{
		"topic": t.Name, "defaultTopic": "TBW102", "topicFilterType": "SINGLE_TAG",
		"readQueueNums": queues, "writeQueueNums": queues, "perm": "6", "topicSysFlag": "0",
		"order": strconv.FormatBool(kind == "FIFO"), "attributes": attributes,
	}})
	if err != nil {
		return fmt.Errorf("make the topic %q: %w", t.Name, err)
	}
	_, err = poll.Until(ctx, poll.Options{Budget: r.env.scaled(adminLimit)}, func(ctx context.Context) error {
		return r.hasRoute(ctx, t.Name)
	})
	return err
}

// RocketMQGroup is a subscription group to be made.
type RocketMQGroup struct {
	Name string
	// Orderly groups get the messages of a queue in order, a batch at a time.
	Orderly bool
	// MaxRetries is how often a message is delivered again before it goes to the
	// dead-letter queue; zero is 16.
	MaxRetries int
	// Backoff is the time before each further delivery; zero is the broker's own
	// table, which begins with 1 s for orderly groups and 10 s for the others.
	Backoff time.Duration
	// Attributes are the group's, as the admin tool takes them but without the plus sign.
	Attributes map[string]string
}

// CreateGroup makes a subscription group, or changes it.
func (r *RocketMQ) CreateGroup(ctx context.Context, g RocketMQGroup) error {
	retries := g.MaxRetries
	if retries == 0 {
		retries = 16
	}
	config := map[string]any{
		"groupName": g.Name, "consumeEnable": true, "consumeFromMinEnable": true, "consumeBroadcastEnable": true,
		"consumeMessageOrderly": g.Orderly, "retryQueueNums": 1, "retryMaxTimes": retries,
	}
	if g.Backoff > 0 {
		every := g.Backoff.Milliseconds()
		config["groupRetryPolicy"] = map[string]any{
			"type":                   "EXPONENTIAL",
			"exponentialRetryPolicy": map[string]any{"initial": every, "max": every, "multiplier": 1},
		}
	}
	if len(g.Attributes) > 0 {
		attributes := map[string]string{}
		for name, value := range g.Attributes {
			attributes["+"+name] = value
		}
		config["attributes"] = attributes
	}
	body, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("encode the group %q: %w", g.Name, err)
	}
	if _, err := r.server(ctx, remotingCommand{Code: createGroup, Body: body}); err != nil {
		return fmt.Errorf("make the group %q: %w", g.Name, err)
	}
	return nil
}

// ConsumerOffset is the offset up to which a group has consumed a queue.
func (r *RocketMQ) ConsumerOffset(ctx context.Context, group, topic string, queue int) (int64, error) {
	return r.offset(ctx, remotingCommand{Code: queryConsumerOffset, Fields: map[string]string{
		"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(queue),
	}})
}

// MaxOffset is the offset that the next message of a queue will have.
func (r *RocketMQ) MaxOffset(ctx context.Context, topic string, queue int) (int64, error) {
	return r.offset(ctx, remotingCommand{Code: getMaxOffset, Fields: map[string]string{
		"topic": topic, "queueId": strconv.Itoa(queue),
	}})
}

func (r *RocketMQ) offset(ctx context.Context, command remotingCommand) (int64, error) {
	answer, err := r.server(ctx, command)
	if err != nil {
		return 0, fmt.Errorf("ask for an offset of %q: %w", command.Fields["topic"], err)
	}
	n, err := strconv.ParseInt(answer.Fields["offset"], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the offset of %q: %w", command.Fields["topic"], err)
	}
	return n, nil
}

// hasRoute asks the name server.
func (r *RocketMQ) hasRoute(ctx context.Context, topic string) error {
	address, err := r.address(broker.RocketMQNameServer, broker.RocketMQNames)
	if err != nil {
		return err
	}
	if _, err := remotingCall(ctx, address, remotingCommand{Code: getRoute, Fields: map[string]string{"topic": topic}}); err != nil {
		return fmt.Errorf("ask for the route of %q: %w", topic, err)
	}
	return nil
}

// register has the broker register itself at the name server, which it does when it is
// told its permission, here the one that it has.
func (r *RocketMQ) register(ctx context.Context) error {
	if _, err := r.server(ctx, remotingCommand{Code: updateBrokerConfig, Body: []byte("brokerPermission=6\n")}); err != nil {
		return fmt.Errorf("have the broker register itself: %w", err)
	}
	return nil
}

// server calls the broker, past the link.
func (r *RocketMQ) server(ctx context.Context, command remotingCommand) (remotingCommand, error) {
	ctx, cancel := context.WithTimeout(ctx, r.env.scaled(adminLimit))
	defer cancel()
	address, err := r.address(broker.RocketMQBroker, broker.RocketMQRemoting)
	if err != nil {
		return remotingCommand{}, err
	}
	return remotingCall(ctx, address, command)
}
