package dist

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"time"
)

const tarBlock = 512

// Archive is a tar file that is put together while it is read: headers from
// memory, jars from where they lie. An image build reads it twice (first for
// the Dockerfile, then to send it), and neither 240 MB of memory nor a second
// copy on disk is spent on that. It is not for concurrent use.
type Archive struct {
	pieces []piece
	size   int64
	offset int64
	// open is the file being read, of the piece openAt.
	open   *os.File
	openAt int
}

// piece is a run of bytes of the archive, from a file if path is set.
type piece struct {
	start, size int64
	data        []byte
	path        string
}

var (
	_ io.ReadSeekCloser = (*Archive)(nil)
	_ io.ReaderAt       = (*os.File)(nil)
)

// Size is the archive's length in bytes.
func (a *Archive) Size() int64 { return a.size }

// Read reads from the archive. A jar that shrank since the archive was made is
// an error.
func (a *Archive) Read(p []byte) (int, error) {
	if a.offset >= a.size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	i := sort.Search(len(a.pieces), func(i int) bool { return a.pieces[i].start > a.offset }) - 1
	pc := a.pieces[i]
	at := a.offset - pc.start
	p = p[:min(int64(len(p)), pc.size-at)]
	if pc.path == "" {
		n := copy(p, pc.data[at:])
		a.offset += int64(n)
		return n, nil
	}
	f, err := a.file(i)
	if err != nil {
		return 0, err
	}
	n, err := f.ReadAt(p, at)
	a.offset += int64(n)
	if errors.Is(err, io.EOF) && n < len(p) {
		return n, fmt.Errorf("read jar %q: %w", pc.path, io.ErrUnexpectedEOF)
	}
	if n > 0 {
		err = nil
	}
	return n, err
}

// Seek moves to where the next Read starts.
func (a *Archive) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += a.offset
	case io.SeekEnd:
		offset += a.size
	default:
		return 0, fmt.Errorf("seek in a build context: whence %d is not known", whence)
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek in a build context: offset %d is before its start", offset)
	}
	a.offset = offset
	return offset, nil
}

// Close lets go of the jar being read. The archive may be read again.
func (a *Archive) Close() error {
	if a.open == nil {
		return nil
	}
	f := a.open
	a.open = nil
	return f.Close()
}

// file opens the file of a piece, in place of the one before.
func (a *Archive) file(i int) (*os.File, error) {
	if a.open != nil && a.openAt == i {
		return a.open, nil
	}
	_ = a.Close()
	f, err := os.Open(a.pieces[i].path)
	if err != nil {
		return nil, fmt.Errorf("read a jar: %w", err)
	}
	a.open, a.openAt = f, i
	return f, nil
}

func (a *Archive) addBytes(name string, body []byte) error {
	if err := a.addHeader(name, int64(len(body))); err != nil {
		return err
	}
	a.add(piece{size: int64(len(body)), data: body})
	a.align()
	return nil
}

func (a *Archive) addFile(name, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("write a build context: %w", err)
	}
	if err := a.addHeader(name, info.Size()); err != nil {
		return err
	}
	a.add(piece{size: info.Size(), path: path})
	a.align()
	return nil
}

// addHeader writes an entry's header. Its times are fixed, so that the same
// jars give the same bytes.
func (a *Archive) addHeader(name string, size int64) error {
	var buffer bytes.Buffer
	header := tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0)}
	if err := tar.NewWriter(&buffer).WriteHeader(&header); err != nil {
		return fmt.Errorf("write a build context: %w", err)
	}
	a.add(piece{size: int64(buffer.Len()), data: buffer.Bytes()})
	return nil
}

// align fills up the last block.
func (a *Archive) align() {
	if rest := a.size % tarBlock; rest != 0 {
		a.add(piece{size: tarBlock - rest, data: make([]byte, tarBlock-rest)})
	}
}

// finish writes the two empty blocks that end a tar file.
func (a *Archive) finish() {
	a.add(piece{size: 2 * tarBlock, data: make([]byte, 2*tarBlock)})
}

func (a *Archive) add(pc piece) {
	// Pieces without bytes would share their start with the next.
	if pc.size == 0 {
		return
	}
	pc.start = a.size
	a.pieces = append(a.pieces, pc)
	a.size += pc.size
}
