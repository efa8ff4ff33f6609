// Package broker describes Kafka, Pulsar and RocketMQ as data: their nodes,
// jars, configuration files and ports. It knows no runtime; a node is told by
// a Site where it finds itself.
package broker
