package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// terminalWidth is how many characters a line of the terminal takes; 0 is no terminal.
func terminalWidth(w io.Writer) int {
	f, is := w.(*os.File)
	if !is {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
