package main

import (
	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/doctor"
	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

func newDoctor() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "doctor",
		Short: "say whether a run could work on this machine, and what is missing",
		Long: "doctor looks at engine, Java, Maven, memory, disks, cache, ports, images, sessions and settings. It\n" +
			"changes nothing. It exits with 0 if a run could work and 3 if not.",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			r := doctor.Examine(c.Context())
			n := gate.ExitOK
			if !r.Fit {
				n = gate.ExitEnvironment
			}
			return o.print(c, shown{result: r, text: r.Text()}, n)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON instead of a table")
	return c
}
