// Package scaffold writes the skeleton of a new case into a scenario package: a file that
// compiles and whose test says, phase by phase, what is still to be done.
//
// There is one skeleton for each scenario package, in the folder skeletons, in the shape of
// that package's cases.
package scaffold
