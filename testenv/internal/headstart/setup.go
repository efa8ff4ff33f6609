package headstart

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Setup are the files that a setup made: content by path. What it depends on,
// beside the jars, names it.
func (s Store) Setup(dependsOn string) (files map[string][]byte, there bool) {
	name := setupName(dependsOn)
	if !s.sealed(name) {
		return nil, false
	}
	text, err := os.ReadFile(s.path(name))
	if err != nil || json.Unmarshal(text, &files) != nil {
		return nil, false
	}
	return files, len(files) > 0
}

// KeepSetup keeps the files of a setup that was not kept yet.
func (s Store) KeepSetup(dependsOn string, files map[string][]byte) error {
	if _, there := s.Setup(dependsOn); there || len(files) == 0 {
		return nil
	}
	text, err := json.Marshal(files)
	if err != nil {
		return fmt.Errorf("keep what a setup made: %w", err)
	}
	name := setupName(dependsOn)
	if err := s.write(name, text); err != nil {
		return err
	}
	return s.seal(name)
}

func setupName(dependsOn string) string { return "setup-" + digest(dependsOn) + ".json" }

// Files are the files below a directory: content by path.
func Files(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)] = text
		return nil
	})
	return files, err
}
