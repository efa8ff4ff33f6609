package dist

// Coordinate names one Maven artifact.
type Coordinate struct {
	Group, Artifact, Version string
}

// Bill says which jars a broker is made of: the dependencies of a POM, from
// which Maven resolves the rest.
type Bill struct {
	// Broker is the broker's lower-case name, "pulsar", a part of directory
	// and image names.
	Broker string
	// Version is what the broker calls itself, "3.0.2". A mixed distribution
	// names both parts, "5.5.0-broker-5.5.1".
	Version string
	// Imports are POMs taken into dependencyManagement with scope import.
	Imports []Coordinate
	// Pins are versions fixed in dependencyManagement.
	Pins []Coordinate
	// Artifacts are the direct dependencies.
	Artifacts []Coordinate
}
