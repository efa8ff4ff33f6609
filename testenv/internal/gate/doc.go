// Package gate makes verdicts out of a go test -json stream.
//
// A test that belongs to the suite tells its case, its versions and its
// verdict with t.Attr, which the stream carries as "attr" events. Such a test
// becomes a [Cell]. A test without a case is no cell; if it fails it is listed
// beside the cells, as is a package that failed without a failed test. What
// is neither the client's nor the broker's doing (a package that does not
// build, a run that was cut off) is told apart as environment.
package gate
