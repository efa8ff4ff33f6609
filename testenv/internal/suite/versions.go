package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Unresolved says that the go command could not tell a version: whatever it is, nothing
// can be said about it.
type Unresolved struct{ error }

// ModFile is a copy of a go.mod and, if there is one, of its go.sum.
type ModFile struct{ source, dir string }

// OpenModFile copies a file, or what a git revision of the current repository has of it.
// Close removes the copy.
func OpenModFile(ctx context.Context, source string) (*ModFile, error) {
	dir, err := os.MkdirTemp("", "faultgate-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for a go.mod: %w", err)
	}
	f := &ModFile{source, dir}
	if err := f.fetch(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *ModFile) fetch(ctx context.Context) error {
	if err := fetch(ctx, f.source, f.dir); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(f.dir, "go.mod"))
	if err != nil {
		return fmt.Errorf("read the copy of %s: %w", f.source, err)
	}
	// Lax, for a newer go command may know more directives.
	read, err := modfile.ParseLax(f.source, text, nil)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.source, err)
	}
	if read.Module == nil {
		return fmt.Errorf("read %s: it names no module, so it is no go.mod", f.source)
	}
	return nil
}

// Close removes the copy.
func (f *ModFile) Close() { _ = os.RemoveAll(f.dir) }

// Versions are the versions that its build list has of modules; one that it has not is
// left out.
func (f *ModFile) Versions(ctx context.Context, modules []string) (map[string]string, error) {
	var out, words bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-mod=mod", "-m", "-e", "-json"}, modules...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = f.dir, &out, &words
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("read the versions of %s: %w: %s", f.source, err, strings.TrimSpace(words.String()))
	}
	versions := map[string]string{}
	for d := json.NewDecoder(&out); ; {
		var m struct {
			Path, Version string
			Replace       *struct{ Path, Version string }
			Error         *struct{ Err string }
		}
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return versions, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the versions of %s: %w", f.source, err)
		}
		switch {
		case m.Error != nil && m.Version == "" && strings.Contains(m.Error.Err, "not a known dependency"):
			// It is not in the build list.
		case m.Error != nil:
			return nil, &Unresolved{fmt.Errorf("resolve %s in %s: %s", strings.TrimSpace(m.Path+" "+m.Version), f.source, m.Error.Err)}
		case m.Replace != nil:
			return nil, fmt.Errorf("%s replaces %s with %s: only releases can be compared", f.source, m.Path, strings.TrimSpace(m.Replace.Path+" "+m.Replace.Version))
		default:
			versions[m.Path] = m.Version
		}
	}
}

// fetch puts go.mod, and go.sum if there is one, into dir.
func fetch(ctx context.Context, source, dir string) error {
	if _, err := os.Stat(source); err == nil {
		if err := copyFile(source, filepath.Join(dir, "go.mod")); err != nil {
			return err
		}
		if sum := filepath.Join(filepath.Dir(source), "go.sum"); exists(sum) {
			return copyFile(sum, filepath.Join(dir, "go.sum"))
		}
		return nil
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		var words bytes.Buffer
		cmd := exec.CommandContext(ctx, "git", "show", source+":./"+name)
		cmd.Stderr = &words
		text, err := cmd.Output()
		if err != nil && name == "go.mod" {
			return fmt.Errorf("%q is neither a file nor a git revision with a go.mod: %s", source, strings.TrimSpace(words.String()))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		} else {
			err = nil // a module without dependencies has no go.sum
		}
		if err != nil {
			return fmt.Errorf("copy a module file: %w", err)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Releases are the releases of a module from one end to the other, both included,
// oldest first. Given are those to look among; none means the go command's list. All are
// what CheckReleases takes.
func (s *Suite) Releases(ctx context.Context, module string, given []string, ends ...string) ([]string, error) {
	all := slices.Clone(given)
	if len(all) == 0 {
		text, err := s.goCommand(ctx, "list", "-mod=mod", "-m", "-versions", "-f", `{{join .Versions " "}}`, module)
		if err != nil {
			return nil, fmt.Errorf("list the releases of %s (or name them with --versions): %w", module, err)
		}
		all = strings.Fields(text)
	}
	all = append(all, ends...)
	semver.Sort(all)
	all = slices.Compact(all)
	slices.SortFunc(ends, semver.Compare)
	low, high := ends[0], ends[len(ends)-1]
	return slices.DeleteFunc(all, func(v string) bool {
		between := semver.Compare(v, low) >= 0 && semver.Compare(v, high) <= 0
		return !between || semver.Prerelease(v) != "" && !slices.Contains(ends, v) && !slices.Contains(given, v)
	}), nil
}
