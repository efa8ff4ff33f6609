// Package trackrecord keeps when each known-bad combination of a case was last seen red,
// in a file of the repository.
//
// faultgate controls --record writes it; the table in README.md is made from it.
package trackrecord
