package testenv_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

var update = flag.Bool("update", false, "write the generated tables into README.md and testenv/doc.go")

const readme = "../README.md"

// scenarios are the packages whose cases README.md lists; those still to come are skipped.
var scenarios = []string{"pulsarquota", "kafkatxn", "kafkametadata", "rocketmqpop"}

func TestSettingsTableOfReadme(t *testing.T) {
	rows := [][]string{{"setting", "default", "takes", "does"}}
	for _, s := range settings.Table {
		rows = append(rows, []string{"`" + s.Name + "`", s.Default, s.Takes, s.Does})
	}
	compare(t, readme, "<!-- settings:begin -->\n", "<!-- settings:end -->", markdown(rows))
}

func TestSettingsTableOfManual(t *testing.T) {
	var b strings.Builder
	for _, s := range settings.Table {
		fmt.Fprintf(&b, "//\t%s (%s)\n//\t\t%s: %s\n", s.Name, orNone(s.Default), s.Takes, s.Does)
	}
	compare(t, "doc.go", "TestSettingsTableOfManual:\n//\n", "//\n// BROKERFAULT_SCALE multiplies", b.String())
}

func TestCaseTableOfReadme(t *testing.T) {
	rows := [][]string{{"case", "claim", "known-bad", "known-good", "report"}}
	for _, dir := range scenarios {
		rows = append(rows, casesIn(t, filepath.Join("..", dir))...)
	}
	slices.SortStableFunc(rows[1:], func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	compare(t, readme, "<!-- cases:begin -->\n", "<!-- cases:end -->", markdown(rows))
}

// compare holds what stands between two markers of a file against what should, or writes it with -update.
func compare(t *testing.T, file, begin, end, want string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found, "%s has no %q", file, begin)
	got, after, found := strings.Cut(rest, end)
	require.True(t, found, "%s has no %q after %q", file, end, begin)
	if *update && got != want {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+want+end+after), 0o600))
		return
	}
	require.Equal(t, want, got, "the table in %s is out of date; write it anew with: go test ./testenv -run '%s' -update", file, t.Name())
}

func markdown(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	return b.String()
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// source is a package's syntax: it is read, not run, so that the table needs no broker.
type source struct {
	files *token.FileSet
	// named are the values of constants and variables of the package.
	named map[string]ast.Expr
}

// casesIn makes a row of each testenv.Case literal in a folder's tests.
func casesIn(t *testing.T, dir string) [][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	s := source{token.NewFileSet(), map[string]ast.Expr{}}
	var literals []*ast.CompositeLit
	for _, path := range paths {
		file, err := parser.ParseFile(s.files, path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, value := range n.Values {
					s.named[n.Names[i].Name] = value
				}
			case *ast.CompositeLit:
				if s.print(n.Type) == "testenv.Case" {
					literals = append(literals, n)
				}
			}
			return true
		})
	}
	var rows [][]string
	for _, l := range literals {
		f := s.fields(l)
		issue := s.text(f["Issue"])
		if issue != "" {
			issue = "[" + strings.TrimPrefix(issue, "https://github.com/") + "](" + issue + ")"
		}
		rows = append(rows, []string{
			"`" + s.text(f["Name"]) + "`", s.text(f["Claim"]), s.combinations(f["KnownBad"]), s.combinations(f["KnownGood"]), issue,
		})
	}
	return rows
}

func (s source) fields(l *ast.CompositeLit) map[string]ast.Expr {
	all := map[string]ast.Expr{}
	for _, e := range l.Elts {
		if pair, is := e.(*ast.KeyValueExpr); is {
			all[s.print(pair.Key)] = pair.Value
		}
	}
	return all
}

// resolve follows a name to its value within the package.
func (s source) resolve(e ast.Expr) ast.Expr {
	if name, is := e.(*ast.Ident); is && s.named[name.Name] != nil {
		return s.named[name.Name]
	}
	return e
}

// text is a string's value where the syntax tells it, else its expression.
func (s source) text(e ast.Expr) string {
	switch e := s.resolve(e).(type) {
	case nil:
		return ""
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return s.text(e.X) + s.text(e.Y)
		}
	}
	return s.print(e)
}

// combinations is "client v0.17.0; broker 3.0.2; client v1 on broker 2 (open)".
func (s source) combinations(e ast.Expr) string {
	list, is := s.resolve(e).(*ast.CompositeLit)
	if !is {
		return s.text(e)
	}
	var all []string
	for _, element := range list.Elts {
		one, is := s.resolve(element).(*ast.CompositeLit)
		if !is {
			all = append(all, s.print(element))
			continue
		}
		f := s.fields(one)
		var words []string
		if v := s.text(f["Client"]); v != "" {
			words = append(words, "client "+v)
		}
		if v := s.text(f["Broker"]); v != "" {
			words = append(words, "broker "+v)
		}
		name := strings.Join(words, " on ")
		if name == "" {
			name = "any client on any broker"
		}
		if s.text(f["Open"]) != "" {
			name += " (open)"
		}
		all = append(all, name)
	}
	return strings.Join(all, "; ")
}

func (s source) print(n ast.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	if err := printer.Fprint(&b, s.files, n); err != nil {
		return err.Error()
	}
	return b.String()
}
