package dist

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// LibDir is where an image has the jars.
const LibDir = "/opt/brokerfault/lib"

// DefaultMavenImage is the image in which BuildStage runs Maven unless told
// otherwise.
const DefaultMavenImage = "maven:3-eclipse-temurin-17"

// ClassDir is where an image has its class-data archives: MAIN.jsa for each main class.
const ClassDir = "/opt/brokerfault/classes"

const dockerfile = "Dockerfile"

// An image reference becomes a line of the Dockerfile, so it must not be able
// to start another one.
var imageReference = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)

// BuildContext is the context of an image build: base with the jars in LibDir.
// It fits testcontainers-go's ContextArchive.
func (j Jars) BuildContext(base string) (*Archive, error) {
	if err := checkImage(base); err != nil {
		return nil, err
	}
	if len(j.Names) == 0 {
		return nil, errors.New("write a build context: there are no jars")
	}
	a := &Archive{}
	text := fmt.Sprintf("FROM %s\nCOPY lib/ %s/\n", base, LibDir)
	if err := a.addBytes(dockerfile, []byte(text)); err != nil {
		return nil, err
	}
	for _, name := range j.Names {
		if err := a.addFile("lib/"+name, filepath.Join(j.Dir, name)); err != nil {
			return nil, err
		}
	}
	a.finish()
	return a, nil
}

// BuildStage is the context of an image build like BuildContext's, with a first
// stage that runs Maven in the given image; empty means DefaultMavenImage. It
// needs Docker alone, but no jar is shared with what the cache holds, and the
// user's Maven settings are not seen.
func (b Bill) BuildStage(base, maven string) (*Archive, error) {
	if maven == "" {
		maven = DefaultMavenImage
	}
	for _, image := range []string{base, maven} {
		if err := checkImage(image); err != nil {
			return nil, err
		}
	}
	text := fmt.Sprintf(`FROM %s AS jars
WORKDIR /brokerfault
COPY %s .
RUN mvn %s -DoutputDirectory=/brokerfault/lib
FROM %s
COPY --from=jars /brokerfault/lib/ %s/
`, maven, pomFile, strings.Join(goal, " "), base, LibDir)
	a := &Archive{}
	if err := a.addBytes(dockerfile, []byte(text)); err != nil {
		return nil, err
	}
	if err := a.addBytes(pomFile, b.POM()); err != nil {
		return nil, err
	}
	a.finish()
	return a, nil
}

// ClassContext is the context of an image build that adds class-data archives,
// made by the image's own Java, to an image of BuildContext or BuildStage. Lists
// are files with the names of classes, by main class. dump are the arguments of
// the java that makes an archive of a list, both files named by the variables
// list and archive, and the class path by classpath. A program whose archive
// cannot be made goes without.
func ClassContext(image string, lists map[string]string, dump []string) (*Archive, error) {
	if err := checkImage(image); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(`FROM %s
COPY classes/ %s/
RUN cd %s && %s && \
    for list in *.classes; do \
        archive="${list%%.classes}.jsa"; \
        java %s >"$list.log" 2>&1 || rm -f "$archive"; \
    done
`, image, ClassDir, ClassDir, ClassPath, strings.Join(dump, " "))
	a := &Archive{}
	if err := a.addBytes(dockerfile, []byte(text)); err != nil {
		return nil, err
	}
	for _, main := range slices.Sorted(maps.Keys(lists)) {
		if err := a.addFile("classes/"+main+".classes", lists[main]); err != nil {
			return nil, err
		}
	}
	a.finish()
	return a, nil
}

// ClassPath is the shell's way to the class path of an image in the variable
// classpath: the jars in the order of their names.
const ClassPath = "classpath=$(LC_ALL=C; for jar in " + LibDir + "/*.jar; do printf '%s:' \"$jar\"; done); classpath=${classpath%:}"

func checkImage(image string) error {
	if len(image) > 512 || !imageReference.MatchString(image) {
		return fmt.Errorf("write a build context: %.80q is not an image reference like eclipse-temurin:17-jre", image)
	}
	return nil
}
