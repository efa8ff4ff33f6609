package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
)

// Locate finds the module with the cases. It is that of the current directory, if the
// command was built in a checkout or of that very module; else the one that the command
// was built of, in the module cache.
func (s *Suite) Locate(ctx context.Context) error {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return nil
	}
	if here, err := s.goCommand(ctx, "env", "GOMOD"); err == nil && here != "" && here != os.DevNull {
		if path, err := s.goCommand(ctx, "list", "-m"); err == nil && path == info.Main.Path {
			s.Dir = filepath.Dir(here)
			return nil
		}
	}
	text, err := s.goCommand(ctx, "mod", "download", "-json", info.Main.Path+"@"+info.Main.Version)
	var got struct{ Dir, Error string }
	if parse := json.Unmarshal([]byte(text), &got); err == nil {
		err = parse
	}
	if err == nil && got.Dir == "" {
		err = errors.New(got.Error)
	}
	if err != nil {
		return fmt.Errorf("find the source of the cases, %s %s: %w", info.Main.Path, info.Main.Version, err)
	}
	s.Dir = got.Dir
	return nil
}
