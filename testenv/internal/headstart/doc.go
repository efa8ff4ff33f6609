// Package headstart keeps what the first start of a broker found out, so that
// later ones need not: which classes it loads, from which Java makes a
// class-data archive, and the directory that its setup made.
//
// Nothing of it is needed: what is missing or damaged costs a slower start.
package headstart
