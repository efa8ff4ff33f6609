// Package kafkawire does faults to single requests and answers of Kafka's protocol
// as they pass a link.
//
// A frame is a size and that many bytes. A request begins with its API key, its
// version and a correlation ID; an answer has the correlation ID only, so what it
// answers is looked up among the requests of its connection. Answers may come in any
// order, and need not come at all (a Produce with acks=0 has none).
//
// Frames pass as they arrive, piece by piece: nothing but an incomplete header is kept
// back. A connection on which something cannot be a frame of Kafka's (TLS, another
// protocol) is passed on untouched from there on, in both directions.
package kafkawire
