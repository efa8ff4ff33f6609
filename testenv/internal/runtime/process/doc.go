// Package process runs the nodes of a broker as java processes of this
// machine. They are children of the supervisor, so they do not outlive the
// test that started them.
package process
