// Package rawgrpc carries gRPC's messages as the bytes they are: it knows no
// service. Its Relay is a server that hands every call on to another one, and can
// be told to lose, delay or replace an answer.
package rawgrpc
