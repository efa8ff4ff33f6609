package dist

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"strings"
)

// The types below are the part of Maven's POM model a bill needs. They go
// through encoding/xml so that no coordinate can break out of its element.
type pomProject struct {
	XMLName      xml.Name        `xml:"project"`
	Namespace    string          `xml:"xmlns,attr"`
	ModelVersion string          `xml:"modelVersion"`
	Group        string          `xml:"groupId"`
	Artifact     string          `xml:"artifactId"`
	Version      string          `xml:"version"`
	Packaging    string          `xml:"packaging"`
	Managed      []pomDependency `xml:"dependencyManagement>dependencies>dependency"`
	Dependencies []pomDependency `xml:"dependencies>dependency"`
}

type pomDependency struct {
	Group    string `xml:"groupId"`
	Artifact string `xml:"artifactId"`
	Version  string `xml:"version"`
	Type     string `xml:"type,omitempty"`
	Scope    string `xml:"scope,omitempty"`
}

// POM writes the bill as a Maven project without code of its own. The same
// bill gives the same bytes.
func (b Bill) POM() []byte {
	project := pomProject{
		Namespace:    "http://maven.apache.org/POM/4.0.0",
		ModelVersion: "4.0.0",
		Group:        "brokerfault",
		Artifact:     b.Broker,
		Version:      b.Version,
		Packaging:    "pom",
	}
	for _, c := range b.Pins {
		project.Managed = append(project.Managed, dependency(c))
	}
	for _, c := range b.Imports {
		d := dependency(c)
		d.Type, d.Scope = "pom", "import"
		project.Managed = append(project.Managed, d)
	}
	for _, c := range b.Artifacts {
		project.Dependencies = append(project.Dependencies, dependency(c))
	}
	body, err := xml.MarshalIndent(project, "", "  ")
	if err != nil {
		// Plain strings always marshal.
		panic(err)
	}
	return append([]byte(xml.Header), append(body, '\n')...)
}

func dependency(c Coordinate) pomDependency {
	return pomDependency{Group: c.Group, Artifact: c.Artifact, Version: c.Version}
}

// Key names the bill in directories and image tags: broker, version and twelve
// hex digits of the POM's SHA-256. It is lower case and a valid image tag,
// therefore a '+' becomes a '_'; the digits keep such versions apart.
func (b Bill) Key() string {
	sum := sha256.Sum256(b.POM())
	name := strings.ToLower(strings.ReplaceAll(b.Broker+"-"+b.Version, "+", "_"))
	return name + "-" + hex.EncodeToString(sum[:])[:12]
}

// String names the bill in messages: "pulsar 3.0.2".
func (b Bill) String() string {
	return b.Broker + " " + b.Version
}
