// Package shard splits the grid of a run (cases by versions of clients and brokers)
// into parts of about the same length, each of which is a grid again: one command line
// can name it.
package shard
