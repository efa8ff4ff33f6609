// Package doctor looks at what a run needs on this machine and says what is missing and
// how to get it. It starts no broker and changes nothing; each look is bounded, so that a
// hung engine is told and not waited for.
package doctor
