package evidence

import (
	"regexp"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"golang.org/x/mod/modfile"
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
		words = append(words, quotedSetting(s))
	}
	if r.Client != "" {
		picked := shellescape.Quote("^" + regexp.QuoteMeta(r.Case) + "$")
		words = append(words, "go tool faultgate run -packages", shellescape.Quote(r.Package), "-client", shellescape.Quote(r.Client), "-case", picked)
		return strings.Join(words, " ")
	}
	parts := strings.Split(r.Test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	run := shellescape.Quote(strings.Join(parts, "/"))
	words = append(words, "go test -run", run, "-count=1", shellescape.Quote(r.Package))
	return strings.Join(words, " ")
}

func quotedSetting(s string) string {
	name, value, _ := strings.Cut(s, "=")
	return name + "=" + shellescape.Quote(value)
}

// Required says which version of a module a go.mod asks for, or nothing.
func Required(gomod, module string) string {
	f, err := modfile.ParseLax("go.mod", []byte(gomod), nil)
	if err != nil {
		return ""
	}
	for _, r := range f.Require {
		if r.Mod.Path == module {
			return r.Mod.Version
		}
	}
	return ""
}
