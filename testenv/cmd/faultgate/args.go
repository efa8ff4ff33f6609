package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// doubleDashed lets flags be written as the go command's are, with one dash:
// "-client" becomes "--client". What follows "--" is go test's, and stays.
func doubleDashed(root *cobra.Command, args []string) []string {
	known := map[string]bool{"help": true}
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	out := make([]string, 0, len(args))
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if strings.HasPrefix(a, "-") && known[name] {
			a = "-" + a
		}
		out = append(out, a)
	}
	return out
}
