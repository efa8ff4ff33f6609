package doctor

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime/container"
	"github.com/brokerfault/brokerfault/testenv/internal/runtime/process"
	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

// limit bounds what other programs and the engine are asked.
const limit = 5 * time.Second

// program is one that is in PATH, or why it is not usable.
type program struct {
	path, version string
	err           error
}

// machine is what was found, before it is judged.
type machine struct {
	settings settings.Settings
	wrong    error

	engine   container.Survey
	noEngine error
	java     process.Java
	noJava   error
	maven    program
	goTool   program
}

// look asks everything that may take long at the same time.
func look(ctx context.Context) *machine {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	m := &machine{}
	m.settings, m.wrong = settings.FromEnvironment()
	var all sync.WaitGroup
	all.Go(func() { m.engine, m.noEngine = container.Look(ctx, m.settings.BaseImage) })
	all.Go(func() { m.java, m.noJava = process.FindJava(ctx) })
	all.Go(func() {
		if m.maven.path, m.maven.err = dist.FindMaven(); m.maven.err == nil {
			m.maven.version, m.maven.err = firstLine(ctx, m.maven.path, "-Dstyle.color=never", "--version")
		}
	})
	all.Go(func() {
		if m.goTool.path, m.goTool.err = exec.LookPath("go"); m.goTool.err == nil {
			m.goTool.version, m.goTool.err = firstLine(ctx, m.goTool.path, "version")
		}
	})
	all.Wait()
	return m
}

// firstLine is the first line that a program prints.
func firstLine(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s does not end: %w", cmd, context.Cause(ctx))
	}
	// Maven colours its name even when it is told not to.
	line, _, _ := strings.Cut(strings.TrimSpace(text.StripEscape(string(out))), "\n")
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, line)
	}
	return line, nil
}
