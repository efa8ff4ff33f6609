// Package suite runs the cases with go test: with the client versions of a generated
// modfile, so that the checkout is only read, and on the broker versions of the settings.
package suite
