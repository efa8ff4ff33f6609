package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/htmlreport"
)

func newReport() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report FILE|DIR",
		Short: "make one HTML page of what run -json has printed, and of the artifacts",
		Long: "report makes one HTML page, which needs no network and no other file, of the JSON that run -json has\n" +
			"printed, or of all such files below a directory. The artifacts that it names are looked at where\n" +
			"they were, else below the directory of the JSON; the page links to them.",
		Args: arguments(1, 1, "a file that run -json has printed, or a directory of such files"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := gate.Read(args[0])
			if err != nil {
				return err
			}
			if out == "-" {
				return htmlreport.Write(c.OutOrStdout(), htmlreport.Page{Report: r, Made: time.Now()})
			}
			if err := writePage(out, htmlreport.Page{Report: r}); err != nil {
				return err
			}
			_, _ = fmt.Fprintf(c.ErrOrStderr(), "faultgate: wrote %s\n", out)
			return nil
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "report.html", "the page to write; - is stdout")
	return c
}
