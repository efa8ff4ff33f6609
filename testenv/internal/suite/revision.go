package suite

import (
	"context"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"
)

// gitLimit is ample for two questions to git.
const gitLimit = 10 * time.Second

// Revision names the suite's source: the commit of its repository, with "+changes" where
// Go files or module files differ from it, else the version that this command was built as.
// A run that was interrupted is named as well, so it takes no context.
func (s *Suite) Revision() string {
	ctx, cancel := context.WithTimeout(context.Background(), gitLimit)
	defer cancel()
	if commit, err := s.git(ctx, "rev-parse", "--short=12", "HEAD"); err == nil {
		if changes, err := s.git(ctx, "status", "--porcelain", "--", ":/*.go", ":/go.mod", ":/go.sum"); err != nil || changes != "" {
			commit += "+changes"
		}
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

func (s *Suite) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = s.Dir
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
