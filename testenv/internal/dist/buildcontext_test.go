package dist

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestBuildContextHoldsTheDockerfileAndTheJars(t *testing.T) {
	cache, _, _ := newCache(t)
	jars, err := cache.Jars(t.Context(), pulsar302(t))
	require.NoError(t, err)
	// An empty file has no bytes of its own in a tar.
	require.NoError(t, os.WriteFile(filepath.Join(jars.Dir, "empty.jar"), nil, 0o644))
	jars.Names = append(jars.Names, "empty.jar")
	archive, err := jars.BuildContext("eclipse-temurin:17-jre")
	require.NoError(t, err)
	defer archive.Close()

	files := untar(t, archive)
	require.Equal(t, "FROM eclipse-temurin:17-jre\nCOPY lib/ /opt/brokerfault/lib/\n", files["Dockerfile"])
	require.Len(t, files, 5)
	require.Equal(t, string(jarBytes("b-1.jar")), files["lib/b-1.jar"])

	_, err = archive.Seek(0, io.SeekStart)
	require.NoError(t, err)
	whole, err := io.ReadAll(archive)
	require.NoError(t, err)
	require.Len(t, whole, int(archive.Size()))
	_, err = archive.Seek(0, io.SeekStart)
	require.NoError(t, err)
	require.NoError(t, iotest.TestReader(archive, whole))
}

func TestJarThatShrinksWhileReadIsAnError(t *testing.T) {
	cache, _, _ := newCache(t)
	jars, err := cache.Jars(t.Context(), pulsar302(t))
	require.NoError(t, err)
	archive, err := jars.BuildContext("base")
	require.NoError(t, err)
	defer archive.Close()
	require.NoError(t, os.Truncate(filepath.Join(jars.Dir, "b-1.jar"), 10))
	_, err = io.Copy(io.Discard, archive)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.ErrorContains(t, err, "b-1.jar")
}

func TestBuildStageRunsTheSameGoalInAnImage(t *testing.T) {
	bill := pulsar302(t)
	archive, err := bill.BuildStage("eclipse-temurin:17-jre", "")
	require.NoError(t, err)
	files := untar(t, archive)
	require.Equal(t, string(bill.POM()), files["pom.xml"])
	require.Equal(t, `FROM maven:3-eclipse-temurin-17 AS jars
WORKDIR /brokerfault
COPY pom.xml .
RUN mvn -B -C -Dstyle.color=never -f pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=/brokerfault/lib
FROM eclipse-temurin:17-jre
COPY --from=jars /brokerfault/lib/ /opt/brokerfault/lib/
`, files["Dockerfile"])
}

func TestImageNameCannotAddALineToTheDockerfile(t *testing.T) {
	for _, image := range []string{"", "a\nRUN x", "a b", "-x", "a$X"} {
		_, err := Jars{Names: []string{"a.jar"}}.BuildContext(image)
		require.ErrorContains(t, err, "not an image reference", "%q", image)
		_, err = pulsar302(t).BuildStage("base", "x"+image+"\n")
		require.ErrorContains(t, err, "not an image reference", "%q", image)
	}
	_, err := Jars{}.BuildContext("base")
	require.ErrorContains(t, err, "there are no jars")
	_, err = Jars{Dir: t.TempDir(), Names: []string{"gone.jar"}}.BuildContext("base")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func untar(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		var body bytes.Buffer
		_, err = io.Copy(&body, archive)
		require.NoError(t, err)
		files[header.Name] = body.String()
	}
}

func TestClassContextMakesEachArchiveOrGoesWithout(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(list, []byte("java/lang/Object id: 0\n"), 0o644))
	archive, err := ClassContext("brokerfault/kafka:3.9.2-0", map[string]string{"kafka.Kafka": list}, []string{"-Xshare:dump", `"$list"`, `"$archive"`})
	require.NoError(t, err)
	defer archive.Close()
	files := untar(t, archive)
	require.Contains(t, files["Dockerfile"], "FROM brokerfault/kafka:3.9.2-0\nCOPY classes/ /opt/brokerfault/classes/\n")
	require.Contains(t, files["Dockerfile"], `java -Xshare:dump "$list" "$archive" >"$list.log" 2>&1 || rm -f "$archive"`)
	require.Equal(t, "java/lang/Object id: 0\n", files["classes/kafka.Kafka.classes"])

	_, err = ClassContext("evil\nRUN x", nil, nil)
	require.ErrorContains(t, err, "is not an image reference")
}
