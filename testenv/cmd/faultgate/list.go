package main

import "github.com/spf13/cobra"

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
				return o.print(c, cases, cases.Markdown(), nil)
			}
			return o.print(c, cases, cases.Text(), nil)
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.packages, "packages", []string{"./..."}, "the packages to look into")
	f.StringVar(&o.pattern, "case", "", "only cases whose name matches this regular expression")
	f.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	f.BoolVar(&markdown, "markdown", false, "print Markdown instead of a table")
	return c
}
