// Package junitxml writes what a gate found as JUnit XML, which CI systems show.
//
// A suite is a package with one client, broker and runtime; a test case is a case. A
// verdict against the product is a failure, one that the environment kept from being
// reached an error. Skipped is what was not run, and what fails as it is listed.
//
// Of a comparison a test case is one that was run under both versions, and a failure what
// regressed; skipped is what recovers with neither. Of controls it is a combination that a case lists,
// and a failure one that is not as listed.
package junitxml
