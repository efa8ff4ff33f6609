package evidence

import (
	"regexp"
	"strings"
)

// Replay is what it takes to run a case again as it was run.
type Replay struct {
	// Settings are KEY=VALUE.
	Settings []string
	// Package is the test's, as the go command takes it: "./kafkatxn".
	Package string
	// Test is the test's name, with those of its subtests.
	Test string
	// Client is MODULE=VERSION where the client is not the one of go.mod.
	Client string
	// Case is the case's name.
	Case string
}

// String is a line for a shell, to be run in the module's root.
func (r Replay) String() string {
	var words []string
	for _, s := range r.Settings {
		words = append(words, quoteSetting(s))
	}
	if r.Client != "" {
		picked := "'^" + regexp.QuoteMeta(r.Case) + "$'"
		words = append(words, "go tool faultgate run -packages", quote(r.Package), "-client", quote(r.Client), "-case", picked)
		return strings.Join(words, " ")
	}
	parts := strings.Split(r.Test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	run := "'" + strings.ReplaceAll(strings.Join(parts, "/"), "'", `'\''`) + "'"
	words = append(words, "go test -run", run, "-count=1", quote(r.Package))
	return strings.Join(words, " ")
}

func quoteSetting(s string) string {
	name, value, _ := strings.Cut(s, "=")
	return name + "=" + quote(value)
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

func quote(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Required says which version of a module a go.mod asks for, or nothing.
func Required(gomod, module string) string {
	for line := range strings.Lines(gomod) {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(f) >= 2 && f[0] == module && strings.HasPrefix(f[1], "v") {
			return f[1]
		}
	}
	return ""
}
