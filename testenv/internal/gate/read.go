package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
)

// Read reads what faultgate run -json has written to a file, or to the files below a
// directory. Artifacts that are not where they were, but below the file's directory,
// as after a download, are found there.
func Read(path string) (*Report, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read a report: %w", err)
	}
	if !info.IsDir() {
		return readFile(path)
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "_artifacts":
			return filepath.SkipDir
		case d.Type().IsRegular() && filepath.Ext(file) == ".json" && d.Name() != "timeline.json":
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for reports: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no report is in %s: it takes the .json files that faultgate run -json prints", path)
	}
	return Merge(files)
}

// largest is how big a report may be, in bytes.
const largest = 256 << 20

func readFile(path string) (*Report, error) {
	if info, err := os.Stat(path); err == nil && (!info.Mode().IsRegular() || info.Size() > largest) {
		return nil, fmt.Errorf("read %s: it is no file of at most %d MB", path, largest>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a report: %w", err)
	}
	r, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s is no report of faultgate run -json: %w", path, err)
	}
	here, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("read a report: %w", err)
	}
	for i := range r.Cells {
		r.Cells[i].Artifacts = moved(r.Cells[i].Artifacts, here)
	}
	return r, nil
}

// parse refuses what only looks like a report: a comparison, a catalogue, half a file.
func parse(text []byte) (*Report, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("it is empty")
	}
	r := NewReport()
	d := json.NewDecoder(bytes.NewReader(text))
	var document struct {
		Cells *[]Cell `json:"cells"`
		*Report
	}
	document.Report = r
	switch err := d.Decode(&document); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("it ends in the middle; was the run stopped while it wrote?")
	case err != nil:
		return nil, err
	case document.Cells == nil:
		return nil, errors.New("it has no cells")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind the first document")
	}
	r.Cells = *document.Cells
	for i, c := range r.Cells {
		switch c.Verdict {
		case evidence.Recovered, evidence.NotRecovered, evidence.Environment, evidence.NotRun:
		default:
			return nil, fmt.Errorf("cell %d, %q, has the verdict %q, which is none", i+1, c.Case, c.Verdict)
		}
	}
	return r, nil
}

// moved is where a directory is now: as named, or at the longest end of its path that
// is below here, or as named if it is nowhere.
func moved(dir, here string) string {
	if dir == "" || isDir(dir) {
		return dir
	}
	parts := strings.Split(filepath.ToSlash(filepath.Clean(dir)), "/")
	for i := range parts {
		if tail := filepath.Join(parts[i:]...); tail != "" && filepath.IsLocal(tail) {
			if at := filepath.Join(here, tail); isDir(at) {
				return at
			}
		}
	}
	return dir
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
