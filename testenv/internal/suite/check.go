package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
)

// Requires refuses modules that are not in the build list of the cases' module, before
// the cases are listed: no case can be about them. What the go command cannot tell is
// left to the listing.
func (s *Suite) Requires(ctx context.Context, modules ...string) error {
	if len(modules) == 0 {
		return nil
	}
	quiet := *s
	quiet.Stderr = io.Discard // the listing says it again
	text, err := quiet.goCommand(ctx, append([]string{"list", "-mod=readonly", "-m", "-e", "-f", "{{.Path}}\t{{with .Error}}{{.Err}}{{end}}"}, modules...)...)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(text) {
		if module, words, _ := strings.Cut(line, "\t"); strings.Contains(words, "not a known dependency") {
			return fmt.Errorf("no case here is about %s, for the tests are built without it; faultgate list -json names the clients", module)
		}
	}
	return nil
}

// CheckReleases refuses what is no version of a module, and two ends between which
// nothing can change.
func CheckReleases(good, bad string, among []string) error {
	for _, v := range append([]string{good, bad}, among...) {
		if !semver.IsValid(v) {
			return fmt.Errorf("%q is no version of a module; one is v1.2.3", v)
		}
	}
	if semver.Compare(good, bad) == 0 {
		return fmt.Errorf("--good %s and --bad %s are the same release: what changed is looked for between two", good, bad)
	}
	return nil
}

// nowhere is a pattern that matches no package.
const nowhere = "faultgate.invalid/..."

// CheckFlags asks the go command whether it takes the flags of go test, without a package
// to build. Flags that it does not know it leaves to the tests.
func (s *Suite) CheckFlags(ctx context.Context) error {
	if len(s.Flags) == 0 {
		return nil
	}
	var words bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", nowhere}, s.Flags...)...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Dir, cmd.Stderr = s.Dir, &words
	var ended *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &ended) || ended.ExitCode() != 2 {
		return nil // what else is wrong the run will tell
	}
	if reason, _, is := strings.Cut(words.String(), "\nusage: "); is {
		return gate.FlagsRefused(reason[strings.LastIndex(reason, "\n")+1:])
	}
	return nil
}
