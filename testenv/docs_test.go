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

	"github.com/brokerfault/brokerfault/testenv/internal/gate"
	"github.com/brokerfault/brokerfault/testenv/internal/settings"
	"github.com/brokerfault/brokerfault/testenv/internal/trackrecord"
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

func TestTrackRecordTableOfReadme(t *testing.T) {
	record, err := trackrecord.Read("testdata/trackrecord.json")
	require.NoError(t, err)
	compare(t, readme, "<!-- trackrecord:begin -->\n", "<!-- trackrecord:end -->", markdown(trackRecord(allKnownBad(t), record)))
}

func TestTrackRecordTableShowsTheLatestSightingOfEachRuntime(t *testing.T) {
	bad := []knownBad{{"p/a", "v1.0.0", ""}, {"p/a", "", "3.0.2"}, {"p/b", "v1.0.0", "3.0.2"}}
	record, err := trackrecord.Read("testdata/trackrecord_example.json")
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"case", "known-bad", "last seen red", "runtime", "with", "suite", "symptom"},
		{"`p/a`", "client v1.0.0", "2026-03-02", "container", "client v1.0.0 on broker 3.0.2", "`cccccccccccc`", "it is dead"},
		{"`p/a`", "client v1.0.0", "2026-03-01", "process", "client v1.0.0 on broker 4.2.4", "`bbbbbbbbbbbb`", strings.Repeat("y", 160) + "…"},
		{"`p/a`", "broker 3.0.2", "2026-03-02", "container", "client v1.0.0 on broker 3.0.2", "`cccccccccccc`", "it is dead"},
		{"`p/b`", "client v1.0.0 on broker 3.0.2", "not yet", "", "", "", ""},
	}, trackRecord(bad, record))
}

// knownBad is an entry of a case's KnownBad.
type knownBad struct{ name, client, broker string }

// versions is "client v0.17.0 on broker 3.0.2"; an empty version stands for any.
func versions(client, broker string) string {
	return gate.Combination{Client: client, Broker: broker}.String()
}

func allKnownBad(t *testing.T) []knownBad {
	t.Helper()
	var all []knownBad
	for _, dir := range scenarios {
		s, literals := parsed(t, filepath.Join("..", dir))
		for _, l := range literals {
			f := s.fields(l)
			for _, at := range s.listed(t, f["KnownBad"]) {
				all = append(all, knownBad{s.text(f["Name"]), s.text(at["Client"]), s.text(at["Broker"])})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b knownBad) int { return strings.Compare(a.name, b.name) })
	return all
}

// longestSymptom keeps the table's lines readable; the file has the whole.
const longestSymptom = 160

func trackRecord(bad []knownBad, record trackrecord.Record) [][]string {
	rows := [][]string{{"case", "known-bad", "last seen red", "runtime", "with", "suite", "symptom"}}
	for _, b := range bad {
		name, at := "`"+b.name+"`", versions(b.client, b.broker)
		seen := record.Of(b.name, b.client, b.broker)
		if len(seen) == 0 {
			rows = append(rows, []string{name, at, "not yet", "", "", "", ""})
		}
		for _, s := range seen {
			symptom := []rune(s.Symptom)
			if len(symptom) > longestSymptom {
				symptom = append(symptom[:longestSymptom], '…')
			}
			rows = append(rows, []string{name, at, s.Date, s.Runtime, versions(s.ClientVersion, s.BrokerVersion), "`" + s.Commit + "`", strings.ReplaceAll(string(symptom), "<", "&lt;")})
		}
	}
	return rows
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

// parsed finds each testenv.Case literal in a folder's tests.
func parsed(t *testing.T, dir string) (source, []*ast.CompositeLit) {
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
	return s, literals
}

// casesIn makes a row of each case.
func casesIn(t *testing.T, dir string) [][]string {
	t.Helper()
	s, literals := parsed(t, dir)
	var rows [][]string
	for _, l := range literals {
		f := s.fields(l)
		issue := s.text(f["Issue"])
		if issue != "" {
			issue = "[" + strings.TrimPrefix(issue, "https://github.com/") + "](" + issue + ")"
		}
		rows = append(rows, []string{
			"`" + s.text(f["Name"]) + "`", s.text(f["Claim"]), s.combinations(t, f["KnownBad"]), s.combinations(t, f["KnownGood"]), issue,
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

// listed are the fields of each combination of a list.
func (s source) listed(t *testing.T, e ast.Expr) []map[string]ast.Expr {
	t.Helper()
	if e == nil {
		return nil
	}
	list, is := s.resolve(e).(*ast.CompositeLit)
	require.True(t, is, "a list that the syntax does not tell: %s", s.print(e))
	var all []map[string]ast.Expr
	for _, element := range list.Elts {
		one, is := s.resolve(element).(*ast.CompositeLit)
		require.True(t, is, "a combination that the syntax does not tell: %s", s.print(element))
		all = append(all, s.fields(one))
	}
	return all
}

// combinations is "client v0.17.0; broker 3.0.2; client v1 on broker 2 (open)".
func (s source) combinations(t *testing.T, e ast.Expr) string {
	t.Helper()
	var all []string
	for _, f := range s.listed(t, e) {
		name := versions(s.text(f["Client"]), s.text(f["Broker"]))
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
