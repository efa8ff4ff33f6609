// Package rocketmqpop tests what becomes of the messages of a pop whose answer
// was lost.
package rocketmqpop
