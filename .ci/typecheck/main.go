// Typecheck looks for type errors in the packages and tests of the directory given, for
// the operating system that GOOS names. It checks the dependencies from their sources:
// go vet would compile all of them for that system first, which takes ten times as long.
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: GOOS=SYSTEM typecheck DIR")
		os.Exit(2)
	}
	found, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: os.Args[1], Tests: true}, "./...")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(found) == 0 {
		fmt.Fprintln(os.Stderr, "no package in "+os.Args[1])
		os.Exit(1)
	}
	if packages.PrintErrors(found) > 0 {
		os.Exit(1)
	}
}
