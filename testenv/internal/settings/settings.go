// Package settings reads the BROKERFAULT_ environment variables.
package settings

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Prefix begins the name of every setting.
const Prefix = "BROKERFAULT_"

// Names that this library sets for its own child processes: they turn a program into the
// supervisor of its parent.
const (
	Supervise        = Prefix + "SUPERVISE"
	SuperviseSession = Prefix + "SUPERVISE_SESSION"
)

var internal = []string{Supervise, SuperviseSession}

// Settings are all settings, parsed.
type Settings struct {
	Backend   string
	Kafka     string
	Pulsar    string
	RocketMQ  string
	Profile   string
	Scale     float64
	Require   bool
	Keep      bool
	Cache     string
	BaseImage string
	List      bool
}

// BrokerVersion is a broker by its name and a version as its setting takes it.
type BrokerVersion struct{ Broker, Version string }

// Brokers are the versions of brokers where a test names none.
func (s Settings) Brokers() []BrokerVersion {
	return []BrokerVersion{{"kafka", s.Kafka}, {"pulsar", s.Pulsar}, {"rocketmq", s.RocketMQ}}
}

// Setting is one setting, as the documentation shows it.
type Setting struct {
	Name    string
	Default string
	Takes   string
	Does    string
	set     func(s *Settings, value string) error
}

// Table lists every setting in the order of the documentation.
var Table = []Setting{
	{"BROKERFAULT_BACKEND", "auto", "auto, container or process",
		"where brokers run; auto takes containers if an engine answers at once, else processes if Java 17 and Maven are there",
		oneOf(func(s *Settings) *string { return &s.Backend }, "auto", "container", "process")},
	{"BROKERFAULT_PULSAR", "3.0.2", "a version", "Pulsar's version where a test names none",
		version(func(s *Settings) *string { return &s.Pulsar })},
	{"BROKERFAULT_KAFKA", "3.9.2", "a version", "Kafka's version where a test names none",
		version(func(s *Settings) *string { return &s.Kafka })},
	{"BROKERFAULT_ROCKETMQ", "5.5.1", "a version", "the version of RocketMQ's broker, and of the rest as far as it fits, where a test names none; V-broker-W takes the rest in V and the broker in W",
		version(func(s *Settings) *string { return &s.RocketMQ })},
	{"BROKERFAULT_PROFILE", "fast", "fast or full", "full runs with the timings of the original experiments",
		oneOf(func(s *Settings) *string { return &s.Profile }, "fast", "full")},
	{"BROKERFAULT_SCALE", "1", "a number from 1 to 100", "multiplies every budget, for slow machines", scale},
	{"BROKERFAULT_REQUIRE", "0", "0 or 1", "1 fails what did not run (for CI)", flag(func(s *Settings) *bool { return &s.Require })},
	{"BROKERFAULT_KEEP", "0", "0 or 1", "1 keeps a failed test's evidence also without -artifacts",
		flag(func(s *Settings) *bool { return &s.Keep })},
	{"BROKERFAULT_CACHE", "brokerfault in the user's cache directory", "an absolute path", "where jars are kept", cache},
	{"BROKERFAULT_BASE_IMAGE", "eclipse-temurin:17-jre", "an image reference", "the image with a Java runtime that broker images are built on", image},
	{"BROKERFAULT_LIST", "0", "0 or 1", "1 prints each case instead of running it", flag(func(s *Settings) *bool { return &s.List })},
}

// FromEnvironment reads the process's environment.
func FromEnvironment() (Settings, error) { return Parse(os.Environ()) }

// Parse reads settings from KEY=VALUE strings. An empty value is the default. The error
// names all that is wrong; the settings then have the defaults in those places.
func Parse(environment []string) (Settings, error) {
	s := Settings{Backend: "auto", Pulsar: "3.0.2", Kafka: "3.9.2", RocketMQ: "5.5.1", Profile: "fast", Scale: 1, BaseImage: "eclipse-temurin:17-jre"}
	var wrong []error
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, Prefix) || slices.Contains(internal, name) {
			continue
		}
		i := slices.IndexFunc(Table, func(t Setting) bool { return t.Name == name })
		if i < 0 {
			wrong = append(wrong, fmt.Errorf("%s is no setting; there are %s", name, strings.Join(names(), ", ")))
			continue
		}
		if value == "" {
			continue
		}
		if err := Table[i].set(&s, value); err != nil {
			wrong = append(wrong, fmt.Errorf("%s=%q: it takes %s", name, value, Table[i].Takes))
		}
	}
	if s.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			wrong = append(wrong, fmt.Errorf("find the user's cache directory (set BROKERFAULT_CACHE): %w", err))
		} else {
			s.Cache = filepath.Join(dir, "brokerfault")
		}
	}
	return s, errors.Join(wrong...)
}

// InForce are the entries of an environment that are settings and not empty.
func InForce(environment []string) []string {
	var all []string
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, Prefix) && !slices.Contains(internal, name) && value != "" {
			all = append(all, entry)
		}
	}
	slices.Sort(all)
	return all
}

func names() []string {
	all := make([]string, len(Table))
	for i, t := range Table {
		all[i] = t.Name
	}
	return all
}

// errBad is never shown: Parse says what the setting takes.
var errBad = errors.New("bad value")

func oneOf(field func(*Settings) *string, values ...string) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		if !slices.Contains(values, value) {
			return errBad
		}
		*field(s) = value
		return nil
	}
}

var versionForm = regexp.MustCompile(`^[0-9][0-9A-Za-z.+-]{0,63}$`)

func version(field func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		if !versionForm.MatchString(value) {
			return errBad
		}
		*field(s) = value
		return nil
	}
}

func flag(field func(*Settings) *bool) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		if value != "0" && value != "1" {
			return errBad
		}
		*field(s) = value == "1"
		return nil
	}
}

func scale(s *Settings, value string) error {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(f) || f < 1 || f > 100 {
		return errBad
	}
	s.Scale = f
	return nil
}

func cache(s *Settings, value string) error {
	if !filepath.IsAbs(value) {
		return errBad
	}
	s.Cache = filepath.Clean(value)
	return nil
}

var imageForm = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._/:@-]{0,254}$`)

func image(s *Settings, value string) error {
	if !imageForm.MatchString(value) {
		return errBad
	}
	s.BaseImage = value
	return nil
}
