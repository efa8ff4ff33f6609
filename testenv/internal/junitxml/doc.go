// Package junitxml writes a gate's report as JUnit XML, which CI systems show.
//
// A suite is a package with one client, broker and runtime; a test case is a case. A
// verdict against the product is a failure, one that the environment kept from being
// reached an error. Skipped is what was not run, and what fails as it is listed.
package junitxml
