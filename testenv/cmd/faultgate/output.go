package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/htmlreport"
	"github.com/brokerfault/brokerfault/testenv/internal/junitxml"
)

// output are the forms that a result is asked for in.
type output struct {
	json                  bool
	markdown, html, junit string
}

func (o *output) addJSON(c *cobra.Command) {
	c.Flags().BoolVar(&o.json, "json", false, "print JSON instead of a table")
}

// addFiles adds what a result can be written to beside stdout.
func (o *output) addFiles(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.markdown, "markdown", "", "write the verdict table to this file, as Markdown")
	f.StringVar(&o.html, "html", "", "write the verdicts with their evidence to this file, as one page of HTML")
	f.StringVar(&o.junit, "junit", "", "write the verdicts to this file, as JUnit XML")
}

// check says before a run which of the files could not be written after it.
func (o *output) check() error {
	return errors.Join(writable("--markdown", o.markdown), writable("--html", o.html), writable("--junit", o.junit))
}

// writable refuses a file that could not be written, and leaves none.
func writable(flag, path string) error {
	if path == "" {
		return nil
	}
	_, before := os.Stat(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w; name a file that can be written", flag, err)
	}
	_ = f.Close()
	if before != nil { // it was made here
		_ = os.Remove(path)
	}
	return nil
}

// shown is a result in the forms that there are of it; what is nil is not.
type shown struct {
	result   any // for JSON
	text     string
	markdown func() string
	page     *htmlreport.Page
	junit    func(io.Writer) error
}

// ofReport are the forms of a run's report.
func ofReport(r *gate.Report) (shown, error) {
	var text bytes.Buffer
	if err := r.Print(&text); err != nil {
		return shown{}, err
	}
	return shown{
		result: r, text: text.String(), markdown: r.Markdown, page: &htmlreport.Page{Report: r},
		junit: func(w io.Writer) error { return junitxml.Write(w, r) },
	}, nil
}

// print writes the result and ends with its code, also where something could not be
// written: whoever has asked for a verdict is not told of a wrong command line then.
func (o *output) print(c *cobra.Command, s shown, n int) error {
	if err := o.write(c, s); err != nil {
		_, _ = fmt.Fprintln(c.ErrOrStderr(), "faultgate:", err)
		return exit(cmp.Or(n, gate.ExitEnvironment))
	}
	return code(n)
}

// write writes the result as JSON or as text, then the files that were asked for, and the
// summary of a job of GitHub's. One file that cannot be written keeps none of the others back.
func (o *output) write(c *cobra.Command, s shown) error {
	if o.json {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		if err := e.Encode(s.result); err != nil {
			return fmt.Errorf("print the result: %w", err)
		}
	} else if _, err := io.WriteString(c.OutOrStdout(), s.text); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	var errs []error
	if o.markdown != "" && s.markdown != nil {
		errs = append(errs, written("Markdown", o.markdown, func(w io.Writer) error {
			_, err := io.WriteString(w, s.markdown())
			return err
		}))
	}
	if o.html != "" && s.page != nil {
		errs = append(errs, writePage(o.html, *s.page))
	}
	if o.junit != "" && s.junit != nil {
		errs = append(errs, written("JUnit XML", o.junit, s.junit))
	}
	if s.markdown != nil {
		errs = append(errs, jobSummary(s.markdown))
	}
	return errors.Join(errs...)
}

// writePage writes the page of a report, whose links are relative to it.
func writePage(path string, p htmlreport.Page) error {
	p.Dir, p.Made = filepath.Dir(path), time.Now()
	return written("page", path, func(w io.Writer) error { return htmlreport.Write(w, p) })
}

// written leaves no half of a file.
func written(what, path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
}

// jobSummary shows the table in a job of GitHub's.
func jobSummary(markdown func() string) error {
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the job's summary: %w", err)
	}
	if _, err := io.WriteString(f, markdown()); err != nil {
		_ = f.Close()
		return fmt.Errorf("write the job's summary: %w", err)
	}
	return f.Close()
}
