package dist

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// damagedJar is a jar Maven handed over that is no whole zip file.
type damagedJar struct {
	name string
	err  error
}

func (d *damagedJar) Error() string {
	return fmt.Sprintf("read jar %q: %v", d.name, d.err)
}

func (d *damagedJar) Unwrap() error { return d.err }

// verify reads every jar in dir to its end, several at once, and returns what
// it found as a manifest. Maven checks what it downloads but not what already
// lies in its local repository, where an interrupted machine leaves short files.
func verify(ctx context.Context, dir string) (manifest, error) {
	names, err := jarsIn(dir)
	if err != nil {
		return manifest{}, err
	}
	m := manifest{Jars: make([]manifestJar, len(names))}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			jar, err := verifyJar(filepath.Join(dir, name))
			if err != nil {
				return &damagedJar{name: name, err: err}
			}
			m.Jars[i] = jar
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return manifest{}, err
	}
	return m, nil
}

func verifyJar(path string) (manifestJar, error) {
	info, err := os.Stat(path)
	if err != nil {
		return manifestJar{}, err
	}
	if err := readZip(path); err != nil {
		return manifestJar{}, err
	}
	sum, err := sha256Of(path)
	if err != nil {
		return manifestJar{}, err
	}
	return manifestJar{Name: filepath.Base(path), Size: info.Size(), SHA256: sum, MTime: info.ModTime()}, nil
}

// readZip reads every entry, because archive/zip compares an entry's CRC at
// its end.
func readZip(path string) error {
	archive, err := zip.OpenReader(path)
	if archive != nil {
		defer archive.Close()
	}
	// Nothing is unpacked, so a name with ".." in it does no harm.
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	for _, entry := range archive.File {
		r, err := entry.Open()
		if err != nil {
			return fmt.Errorf("open %q: %w", entry.Name, err)
		}
		_, err = io.Copy(io.Discard, r)
		if err := errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("read %q: %w", entry.Name, err)
		}
	}
	return nil
}

func sha256Of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %q: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
