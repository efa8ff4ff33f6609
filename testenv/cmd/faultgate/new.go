package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/scaffold"
	"github.com/brokerfault/brokerfault/testenv/internal/suite"
)

func newNew() *cobra.Command {
	var k scaffold.Case
	c := &cobra.Command{
		Use:   "new --package PACKAGE --name NAME --issue URL [--claim TEXT]",
		Short: "write the skeleton of a case into a scenario package of this checkout",
		Long: "new writes a test that compiles and fails with the first thing that is to do. Fill it in from top to\n" +
			"bottom, running it each time. CONTRIBUTING.md goes through it.",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if k.Package == "" || k.Name == "" || k.Issue == "" {
				return errors.New("--package, --name and --issue are all needed")
			}
			s := suite.Suite{Stderr: c.ErrOrStderr()}
			root, err := s.Checkout(c.Context())
			if err != nil {
				return err
			}
			k.Root = root
			written, err := k.Write()
			if err != nil {
				return err
			}
			file, err := filepath.Rel(root, written.File)
			if err != nil {
				return fmt.Errorf("name the new file: %w", err)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), nextSteps, written.Case, filepath.ToSlash(file), written.Test, k.Package, k.Name)
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&k.Package, "package", "", "the scenario package")
	f.StringVar(&k.Name, "name", "", "the case's name: lower-case words with hyphens between, like unconfirmed-commit")
	f.StringVar(&k.Issue, "issue", "", "the address of the public report")
	f.StringVar(&k.Claim, "claim", "", "a sentence: what must hold")
	return c
}

// nextSteps takes case, file, test, package and name.
const nextSteps = `%[1]s is in %[2]s. It compiles, and fails with what is to do first.

Next:
  1. Fill it in from top to bottom, and run it each time:
       go test -count=1 -v -run '^%[3]s$' ./%[4]s
  2. Name the test after its claim.
  3. See it red: with a version that has the fault, or, where there is none, with a Heal that does nothing:
       go tool faultgate run -case '^%[4]s/%[5]s$' -client MODULE=VERSION
  4. List what was run in KnownBad and KnownGood, and run all of it:
       go tool faultgate controls -case '^%[4]s/%[5]s$'
  5. Write the tables of README.md anew; until then TestCaseTableOfReadme fails, as it should:
       go test ./testenv -run Table -update
`
