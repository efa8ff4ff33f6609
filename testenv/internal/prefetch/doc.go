// Package prefetch downloads ahead what runs would download: Go modules with the builds of
// the tests, and the jars or images of brokers. What is there already is left as it is.
package prefetch
