// Faultgate runs the suite and tells each case's verdict. In another module it runs the suite
// that it was built of, out of the module cache.
//
//	faultgate run --client github.com/apache/pulsar-client-go=v0.18.0 --broker pulsar=3.0.2 -- -run SelfHeal
//
// Of the JSON that run prints, report makes a page; plan and merge split a run for
// several machines and join what they printed.
//
// It exits with 0 if all is as it should be, 1 if a case did not recover or a
// test failed, 2 if the command line is wrong, 3 if the environment kept a
// verdict from being reached, and 4 if nothing ran.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

// exit is an exit code that needs no more words.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exitUsage is what a wrong command line ends with.
const exitUsage = 2

// Main runs the command and returns its exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(doubleDashed(root, args))
	err := root.ExecuteContext(ctx)
	var code exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	_, _ = fmt.Fprintln(stderr, "faultgate:", err)
	return exitUsage
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "faultgate",
		Short:         "run fault cases and tell their verdicts",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newRun(), newList(), newCompare(), newControls(), newBisect(), newReport(), newPlan(), newMerge())
	root.AddCommand(newNew(), newDoctor(), newPrefetch())
	return root
}
