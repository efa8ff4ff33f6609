package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/brokerfault/brokerfault/testenv/internal/poll"
)

// SummaryFile is the file of a bundle that is to be read first.
const SummaryFile = "summary.txt"

// Bundle is what a case leaves behind: a directory with one piece of evidence a
// file, and a summary of what there is and what could not be got.
type Bundle struct {
	// Dir is there already.
	Dir string
	// Limit bounds the getting of each piece.
	Limit  time.Duration
	pieces []piece
}

type piece struct {
	file, tells string
	err         error
}

// unfit are characters that have no place in a file's name.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Add writes one piece. One that cannot be got, whose getting panics or does not
// come to an end in time is named as such in the summary, and keeps no other back.
func (b *Bundle) Add(file, tells string, write func(ctx context.Context, w io.Writer) error) {
	p := piece{file: b.unused(unfit.ReplaceAllString(file, "-")), tells: tells}
	_, p.err = poll.Until(context.Background(), poll.Options{Budget: b.Limit}, func(ctx context.Context) error {
		if err := b.write(ctx, p.file, write); err != nil {
			return poll.Stop(err)
		}
		return nil
	})
	var once *poll.Ended
	if errors.As(p.err, &once) {
		p.err = once.Why
	}
	b.pieces = append(b.pieces, p)
}

// Miss notes a piece that is known not to be had.
func (b *Bundle) Miss(file, tells string, why error) {
	b.pieces = append(b.pieces, piece{file, tells, why})
}

func (b *Bundle) write(ctx context.Context, file string, write func(context.Context, io.Writer) error) error {
	f, err := os.OpenFile(filepath.Join(b.Dir, file), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make the file: %w", err)
	}
	defer f.Close()
	if err := write(ctx, f); err != nil {
		return err
	}
	return f.Close()
}

// unused keeps two pieces of one name apart.
func (b *Bundle) unused(file string) string {
	taken := func(name string) bool {
		return name == SummaryFile || slices.ContainsFunc(b.pieces, func(p piece) bool { return p.file == name })
	}
	name := file
	for n := 2; taken(name); n++ {
		ext := filepath.Ext(file)
		name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(file, ext), n, ext)
	}
	return name
}

// Summarize writes the summary: the head, what each file tells, and what is missing.
// It comes last.
func (b *Bundle) Summarize(head string) error {
	var here, missing strings.Builder
	for _, p := range b.pieces {
		if p.err != nil {
			fmt.Fprintf(&missing, "  %-32s %s: %v\n", p.file, p.tells, p.err)
			continue
		}
		fmt.Fprintf(&here, "  %-32s %s\n", p.file, p.tells)
	}
	text := head + "\nIn this folder:\n" + here.String()
	if missing.Len() > 0 {
		text += "\nNot to be had, or in part only:\n" + missing.String()
	}
	if err := os.WriteFile(filepath.Join(b.Dir, SummaryFile), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}
