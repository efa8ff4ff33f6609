package main

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

func newMerge() *cobra.Command {
	o := output{json: true}
	c := &cobra.Command{
		Use:   "merge FILE...",
		Short: "join what the shards of a run have printed with -json, and exit as the whole",
		Long: "merge joins what several run -json have printed, as those of a plan, into one such document, and exits\n" +
			"with the code that one run of it all would have had. It refuses files that have the same cell.",
		Args: arguments(1, math.MaxInt, "files that run -json has printed"),
		RunE: func(c *cobra.Command, files []string) error {
			if err := o.check(); err != nil {
				return err
			}
			r, err := gate.Merge(files)
			if err != nil {
				return err
			}
			s, err := ofReport(r)
			if err != nil {
				return err
			}
			return o.print(c, s, r.ExitCode())
		},
	}
	o.addFiles(c)
	return c
}
