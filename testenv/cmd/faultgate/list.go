package main

import (
	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

func newList() *cobra.Command {
	var o options
	var markdown bool
	c := &cobra.Command{
		Use:   "list [flags]",
		Short: "list the cases, without starting a broker",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := o.suite(c, nil)
			if err != nil {
				return err
			}
			cases, err := o.catalogue(c, s)
			if err != nil {
				return err
			}
			if markdown {
				return o.print(c, shown{result: cases, text: cases.Markdown()}, gate.ExitOK)
			}
			return o.print(c, shown{result: cases, text: cases.Text(terminalWidth(c.OutOrStdout()))}, gate.ExitOK)
		},
	}
	o.addCases(c)
	o.addJSON(c)
	c.Flags().BoolVar(&markdown, "markdown", false, "print Markdown instead of a table")
	return c
}
