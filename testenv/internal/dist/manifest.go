package dist

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

const manifestFile = "manifest.json"

// manifest says what a directory of jars held when it was verified.
type manifest struct {
	Jars []manifestJar `json:"jars"`
}

type manifestJar struct {
	Name   string    `json:"name"`
	Size   int64     `json:"size"`
	SHA256 string    `json:"sha256"`
	MTime  time.Time `json:"mtime"`
}

// errAbsent says that a directory was never made, which is no damage.
var errAbsent = errors.New("not there")

// names returns the jars, sorted.
func (m manifest) names() []string {
	names := make([]string, 0, len(m.Jars))
	for _, jar := range m.Jars {
		names = append(names, jar.Name)
	}
	slices.Sort(names)
	return names
}

func (m manifest) write(dir string) error {
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	// A reader in another process must see the old manifest or the new one.
	return renameio.WriteFile(filepath.Join(dir, manifestFile), append(body, '\n'), 0o644, renameio.IgnoreUmask(), renameio.WithTempDir(dir))
}

// check compares a directory with its manifest and returns the jars in it.
// Size and mtime are compared always, content only where the mtime differs
// from the recorded one: a restored backup must not cost a download, and a jar
// that was touched must not be believed.
func check(dir string) (manifest, error) {
	body, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, statErr := os.Stat(dir); errors.Is(statErr, fs.ErrNotExist) {
			return manifest{}, errAbsent
		}
		return manifest{}, errors.New("the manifest is missing")
	}
	if err != nil {
		return manifest{}, fmt.Errorf("read the manifest: %w", err)
	}
	var m manifest
	if err := json.Unmarshal(body, &m); err != nil {
		return manifest{}, fmt.Errorf("read the manifest: %w", err)
	}
	if len(m.Jars) == 0 {
		return manifest{}, errors.New("the manifest names no jar")
	}
	found, err := jarsIn(dir)
	if err != nil {
		return manifest{}, err
	}
	for _, name := range found {
		if !slices.Contains(m.names(), name) {
			return manifest{}, fmt.Errorf("jar %q does not belong here", name)
		}
	}
	touched := false
	for i := range m.Jars {
		changed, err := m.Jars[i].compare(dir)
		if err != nil {
			return manifest{}, err
		}
		touched = touched || changed
	}
	if touched {
		// Only saves the next use the hashing, so a read-only cache is fine.
		_ = m.write(dir)
	}
	return m, nil
}

// compare checks one jar, and takes over its mtime when only that differs.
func (j *manifestJar) compare(dir string) (touched bool, err error) {
	path := filepath.Join(dir, j.Name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("jar %q is missing", j.Name)
	case err != nil:
		return false, fmt.Errorf("look at jar %q: %w", j.Name, err)
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("jar %q is not a file", j.Name)
	case info.Size() != j.Size:
		return false, fmt.Errorf("jar %q has %d bytes instead of %d", j.Name, info.Size(), j.Size)
	case info.ModTime().Equal(j.MTime):
		return false, nil
	}
	sum, err := sha256Of(path)
	if err != nil {
		return false, err
	}
	if sum != j.SHA256 {
		return false, fmt.Errorf("jar %q has changed", j.Name)
	}
	j.MTime = info.ModTime()
	return true, nil
}

// jarsIn lists what Java takes as a jar when it is given the class path "DIR/*".
func jarsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the jars: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if strings.EqualFold(filepath.Ext(entry.Name()), ".jar") {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}
