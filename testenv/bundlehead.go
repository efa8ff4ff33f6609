package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/evidence"
	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

// bundleHead is what a reader of the bundle wants to know first.
func (e *Env) bundleHead() string {
	var s strings.Builder
	line := func(what, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(&s, "%-9s %s\n", what, strings.ReplaceAll(text, "\n", "\n          "))
		}
	}
	line("case", "%s", e.c.Name)
	line("claim", "%s", e.c.Claim)
	line("issue", "%s", e.c.Issue)
	line("verdict", "%s", e.summary())
	line("reason", "%s", e.result.reason)
	line("test", "%s in %s", e.t.Name(), e.testPackage())
	line("client", "%s %s", e.c.Client.Module, e.c.Client.Version())
	for _, b := range e.brokers {
		line("broker", "%s %s", b.plan.name, b.plan.version)
		var seen []string
		for _, n := range b.nodes {
			if where := n.Where(); !slices.Contains(seen, where) {
				seen = append(seen, where)
				line("runs on", "%s: %s", e.runtime, where)
			}
		}
	}
	line("go", "%s %s/%s", goruntime.Version(), goruntime.GOOS, goruntime.GOARCH)
	line("replay", "%s", e.replay())
	return s.String()
}

// notReplayed are settings that change nothing of what happens to client and broker.
var notReplayed = []string{
	"BROKERFAULT_BACKEND", "BROKERFAULT_REQUIRE", "BROKERFAULT_KEEP", "BROKERFAULT_CACHE", "BROKERFAULT_LIST",
}

// replay is the command that runs this case again with these versions.
func (e *Env) replay() string {
	r := evidence.Replay{Package: e.testPackage(), Test: e.t.Name(), Case: e.c.Name}
	var named []string
	for _, b := range e.brokers {
		r.Settings = append(r.Settings, b.plan.setting)
		name, _, _ := strings.Cut(b.plan.setting, "=")
		named = append(named, name)
	}
	if e.runtime != "" {
		r.Settings = append(r.Settings, "BROKERFAULT_BACKEND="+e.runtime)
	}
	for _, s := range settings.Table {
		value := os.Getenv(s.Name)
		if value == "" || slices.Contains(named, s.Name) || slices.Contains(notReplayed, s.Name) {
			continue
		}
		r.Settings = append(r.Settings, s.Name+"="+value)
	}
	root, module := moduleRoot(e.dir), e.c.Client.Module
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	version := e.c.Client.Version()
	if err == nil && version != unversioned && evidence.Required(string(gomod), module) != version {
		r.Client = module + "=" + version
	}
	return r.String()
}

// testPackage is the package of the test, seen from its module's root.
func (e *Env) testPackage() string {
	rel, err := filepath.Rel(moduleRoot(e.dir), e.dir)
	if err != nil || rel == "." {
		return "."
	}
	return "./" + filepath.ToSlash(rel)
}

// moduleRoot is the next directory above that has a go.mod, or the directory itself.
func moduleRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
