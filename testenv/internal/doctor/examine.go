package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/brokerfault/brokerfault/testenv/internal/backend"
	"github.com/brokerfault/brokerfault/testenv/internal/dist"
	"github.com/brokerfault/brokerfault/testenv/internal/settings"
)

// Examine looks at this machine.
func Examine(ctx context.Context) *Report {
	m := look(ctx)
	r := &Report{}
	m.judgeSettings(r)
	m.judgeGo(r)
	m.judgeRuntime(r)
	m.judgeEngine(r)
	m.judgeJava(r)
	m.judgeMaven(r)
	m.judgeImages(r)
	m.judgeCache(r)
	judgeTemp(r)
	judgeMemory(r)
	judgePorts(ctx, r)
	m.judgeSessions(ctx, r)
	r.Fit = !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Status == Missing })
	return r
}

func (m *machine) judgeSettings(r *Report) {
	if m.wrong != nil {
		r.add("settings", Missing, m.wrong.Error(), "unset or mend what is named; README.md has the table of settings")
		return
	}
	finding := "none set"
	if set := settings.InForce(os.Environ()); len(set) > 0 {
		finding = strings.Join(set, " ")
	}
	s := m.settings
	r.add("settings", OK, fmt.Sprintf("%s; brokers: kafka %s, pulsar %s, rocketmq %s", finding, s.Kafka, s.Pulsar, s.RocketMQ), "")
}

func (m *machine) judgeGo(r *Report) {
	if m.goTool.err != nil {
		r.add("go", Missing, m.goTool.err.Error(), "install Go 1.26 or newer and put it in PATH")
		return
	}
	r.add("go", OK, m.goTool.version+", "+m.goTool.path, "")
}

// judgeRuntime says where brokers would run, and why.
func (m *machine) judgeRuntime(r *Report) {
	const remedy = "start Docker, or install Java 17 or newer and Maven (Debian: openjdk-17-jre-headless, maven)"
	set := m.settings.Backend
	if set != backend.Auto {
		r.Runtime = set
		r.add("runtime", OK, set+", by BROKERFAULT_BACKEND; "+m.ofAuto(), "")
		return
	}
	chosen, err := backend.Choose(m.noEngine, m.noProcesses())
	r.Runtime = chosen
	if err != nil {
		r.add("runtime", Missing, m.ofAuto(), remedy)
		return
	}
	r.add("runtime", OK, m.ofAuto(), "")
}

// ofAuto is what auto comes to here.
func (m *machine) ofAuto() string {
	chosen, err := backend.Choose(m.noEngine, m.noProcesses())
	switch {
	case err != nil:
		return "auto finds nowhere to run a broker: no engine, and not both of Java 17 and Maven"
	case chosen == backend.Container:
		return "auto takes containers, for an engine answers at once"
	}
	return "auto takes processes, for no engine answers, and Java and Maven are there"
}

func (m *machine) noProcesses() error {
	if m.noJava != nil {
		return m.noJava
	}
	if errors.Is(m.maven.err, dist.ErrNoMaven) {
		return m.maven.err
	}
	return nil
}

// lacking is Warn for what the chosen runtime does not need.
func lacking(needed bool) Status {
	if needed {
		return Missing
	}
	return Warn
}

func (m *machine) judgeEngine(r *Report) {
	if m.noEngine != nil {
		r.add("engine", lacking(r.Runtime != backend.Process), m.noEngine.Error(), "")
		return
	}
	r.add("engine", OK, fmt.Sprintf("%s at %s, found by %s", m.engine.Version, m.engine.Host, m.engine.FoundBy), "")
}

func (m *machine) judgeJava(r *Report) {
	if m.noJava != nil {
		r.add("java", lacking(r.Runtime != backend.Container), m.noJava.Error(), "")
		return
	}
	r.add("java", OK, m.java.Version+", "+m.java.Path, "")
}

// judgeMaven: what is in the cache needs no Maven, and an engine can run it in an image.
func (m *machine) judgeMaven(r *Report) {
	const remedy = "install Maven 3.6 or newer (Debian: maven)"
	switch {
	case m.maven.err == nil:
		r.add("maven", OK, m.maven.version+", "+m.maven.path, "")
	case r.Runtime == backend.Container:
		r.add("maven", Warn, m.maven.err.Error()+"; jars come from a build stage with the image "+dist.DefaultMavenImage, remedy)
	default:
		r.add("maven", lacking(!m.allCached()), m.maven.err.Error()+"; only what is in the cache can run", remedy)
	}
}

// allCached says whether the versions of the settings need no download.
func (m *machine) allCached() bool {
	cache := dist.Cache{Dir: m.settings.Cache}
	for _, version := range m.settings.Brokers() {
		bill, err := dist.Named(version.Broker, version.Version)
		if err != nil || !cache.Has(bill) {
			return false
		}
	}
	return true
}

func (m *machine) judgeImages(r *Report) {
	if m.noEngine != nil {
		return
	}
	base := m.settings.BaseImage
	status, finding := OK, base+" is there"
	if !m.engine.Base {
		status, finding = Warn, base+" is not there; the first run pulls it"
	}
	r.add("base image", status, finding, "")
	built := "no broker image is built yet"
	if len(m.engine.Images) > 0 {
		built = fmt.Sprintf("%d broker images, %s: %s", len(m.engine.Images), size(m.engine.ImageBytes), strings.Join(m.engine.Images, ", "))
	}
	r.add("images", OK, built, "")
}
