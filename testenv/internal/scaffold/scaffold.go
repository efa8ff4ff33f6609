package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/mod/modfile"
)

//go:embed skeletons/*.tmpl
var skeletons embed.FS

var templates = template.Must(template.ParseFS(skeletons, "skeletons/*.tmpl"))

// Packages are the scenario packages that there is a skeleton for.
func Packages() []string {
	var all []string
	for _, t := range templates.Templates() {
		all = append(all, strings.TrimSuffix(t.Name(), ".tmpl"))
	}
	slices.Sort(all)
	return all
}

// Case is a case to be written.
type Case struct {
	// Root is the directory of the checkout.
	Root string
	// Package is one of Packages.
	Package string
	// Name is the case's name within its package: "unconfirmed-commit".
	Name string
	// Issue is the address of the public report.
	Issue string
	// Claim is what must hold; empty leaves it to be done.
	Claim string
}

// Skeleton is what was written.
type Skeleton struct {
	// File is the path of the new file.
	File string
	// Case is the case's full name, Test the name of its test.
	Case, Test string
}

const (
	longestName = 60
	claimToDo   = "to do: a sentence that says what must hold"
)

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Write checks the case and writes its skeleton. It never replaces a file.
func (c Case) Write() (Skeleton, error) {
	if err := c.check(); err != nil {
		return Skeleton{}, err
	}
	module, err := checkout(c.Root)
	if err != nil {
		return Skeleton{}, err
	}
	dir := filepath.Join(c.Root, c.Package)
	s := Skeleton{
		File: filepath.Join(dir, strings.ReplaceAll(c.Name, "-", "")+"_test.go"),
		Case: c.Package + "/" + c.Name,
		Test: "Test" + camel(c.Name, true),
	}
	there, err := readPackage(dir)
	if err != nil {
		return Skeleton{}, err
	}
	if file := there.texts[s.Case]; file != "" {
		return Skeleton{}, fmt.Errorf("the case %s is there already, in %s", s.Case, file)
	}
	if file := there.names[s.Test]; file != "" {
		return Skeleton{}, fmt.Errorf("%s has a %s already: give the case another name", file, s.Test)
	}
	claim := strings.Join(strings.Fields(c.Claim), " ")
	if claim == "" {
		claim = claimToDo
	}
	text, err := render(c.Package, map[string]string{
		"Module": module, "Var": there.free(camel(c.Name, false)), "Test": s.Test,
		"Name": s.Case, "Claim": claim, "Issue": c.Issue,
	})
	if err != nil {
		return Skeleton{}, err
	}
	return s, create(s.File, text)
}

// check looks at what needs no file.
func (c Case) check() error {
	if !slices.Contains(Packages(), c.Package) {
		return fmt.Errorf("%q is no scenario package; there are %s", c.Package, strings.Join(Packages(), ", "))
	}
	if len(c.Name) > longestName || !nameForm.MatchString(c.Name) {
		return fmt.Errorf("%q is no name of a case: it takes up to %d lower-case letters and digits with single hyphens between words, like unconfirmed-commit",
			c.Name, longestName)
	}
	u, err := url.Parse(c.Issue)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || strings.ContainsFunc(c.Issue, blank) {
		return fmt.Errorf("%q is no address of a report: it takes a URL like https://github.com/OWNER/NAME/issues/1", c.Issue)
	}
	return nil
}

func blank(r rune) bool { return r <= ' ' || r == '\u007f' }

// checkout refuses what is no checkout of the suite and gives its module path.
func checkout(root string) (module string, err error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err == nil {
		_, err = os.Stat(filepath.Join(root, "testenv", "case.go"))
	}
	if err != nil {
		return "", fmt.Errorf("%s is no checkout of the suite: run this in a clone of its repository: %w", root, err)
	}
	return modfile.ModulePath(text), nil
}

func render(name string, values map[string]string) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name+".tmpl", values); err != nil {
		return nil, fmt.Errorf("write the skeleton of %s: %w", name, err)
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("write the skeleton of %s: %w", name, err)
	}
	return text, nil
}

// create writes a file that must not be there yet.
func create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: give the case another name", path)
	}
	if err != nil {
		return fmt.Errorf("write the skeleton: %w", err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the skeleton: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}
