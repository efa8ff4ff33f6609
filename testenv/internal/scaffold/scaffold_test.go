package scaffold

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// suite is the checkout that this package is in.
const suite = "../../.."

// copied is a checkout with these packages, and nothing else.
func copied(t *testing.T, packages ...string) string {
	t.Helper()
	root := t.TempDir()
	files := []string{"go.mod", "testenv/case.go"}
	for _, p := range packages {
		found, err := filepath.Glob(filepath.Join(suite, p, "*.go"))
		require.NoError(t, err)
		for _, file := range found {
			files = append(files, filepath.Join(p, filepath.Base(file)))
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(suite, file))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, file), text, 0o600))
	}
	return root
}

// goCommand runs the go command in this checkout, as if the skeletons were in it.
func goCommand(t *testing.T, overlay, verb string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{verb, "-overlay=" + overlay}, args...)...)
	cmd.Dir = suite
	cmd.Env = append(os.Environ(), "GOWORK=off", "BROKERFAULT_LIST=", "BROKERFAULT_REQUIRE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestEachSkeletonCompilesAndFailsWithItsFirstToDoBeforeABrokerStarts(t *testing.T) {
	require.Equal(t, []string{"kafkametadata", "kafkatxn", "pulsarquota", "rocketmqpop"}, Packages())
	root := copied(t, Packages()...)
	replaced := map[string]string{}
	var packages []string
	for _, p := range Packages() {
		written, err := Case{Root: root, Package: p, Name: "not-yet-written-7", Issue: "https://example.com/1", Claim: "a \"quoted\"\n claim"}.Write()
		require.NoError(t, err)
		require.Equal(t, Skeleton{filepath.Join(root, p, "notyetwritten7_test.go"), p + "/not-yet-written-7", "TestNotYetWritten7"}, written)
		name, err := filepath.Abs(filepath.Join(suite, p, filepath.Base(written.File)))
		require.NoError(t, err)
		replaced[name] = written.File
		packages = append(packages, "./"+p)
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	overlay := filepath.Join(root, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, text, 0o600))

	out, err := goCommand(t, overlay, "vet", packages...)
	require.NoError(t, err, out)
	out, err = goCommand(t, overlay, "test", append([]string{"-count=1", "-v", "-run=^TestNotYetWritten7$"}, packages...)...)
	require.Error(t, err, out)
	require.Equal(t, len(packages), strings.Count(out, "--- FAIL: TestNotYetWritten7"), out)
	require.Equal(t, len(packages), strings.Count(out, "verdict environment\n"), out)
	require.Contains(t, out, `a "quoted" claim`)
	for _, line := range strings.Split(out, "\n") {
		if strings.Contains(line, "reason ") {
			require.Contains(t, line, "to do: healthy: ")
		}
	}
	require.NotContains(t, out, "starting")
}

func TestEveryPhaseIsToDo(t *testing.T) {
	for _, p := range Packages() {
		text, err := skeletons.ReadFile("skeletons/" + p + ".tmpl")
		require.NoError(t, err)
		rest := string(text)
		for _, phase := range []string{"healthy", "fault", "proof", "heal", "observe", "recover", "read back"} {
			_, after, found := strings.Cut(rest, `testenv.ToDo("`+phase+": ")
			require.True(t, found, "%s has no %s, or not in this place", p, phase)
			rest = after
		}
	}
}

func TestWhatCannotBeWrittenIsRefused(t *testing.T) {
	root := copied(t, "kafkatxn")
	good := Case{Root: root, Package: "kafkatxn", Name: "unseen", Issue: "https://example.com/1"}
	for name, tt := range map[string]struct {
		change func(*Case)
		want   string
	}{
		"a package without cases":      {func(c *Case) { c.Package = "testenv" }, `"testenv" is no scenario package; there are kafkametadata, kafkatxn, pulsarquota, rocketmqpop`},
		"a package elsewhere":          {func(c *Case) { c.Package = "../kafkatxn" }, "is no scenario package"},
		"an upper-case name":           {func(c *Case) { c.Name = "Unseen" }, `"Unseen" is no name of a case`},
		"a name with its package":      {func(c *Case) { c.Name = "kafkatxn/unseen" }, "is no name of a case"},
		"a name with an underscore":    {func(c *Case) { c.Name = "un_seen" }, "is no name of a case"},
		"a name with a hyphen at last": {func(c *Case) { c.Name = "unseen-" }, "is no name of a case"},
		"a name without end":           {func(c *Case) { c.Name = strings.Repeat("a", 61) }, "is no name of a case"},
		"the name of a case":           {func(c *Case) { c.Name = "unconfirmed-commit-same-client" }, "the case kafkatxn/unconfirmed-commit-same-client is there already, in coordinator_test.go"},
		"the name of a file":           {func(c *Case) { c.Name = "client" }, "client_test.go is there already"},
		"no URL":                       {func(c *Case) { c.Issue = "KAFKA-1884" }, `"KAFKA-1884" is no address of a report`},
		"a URL without a host":         {func(c *Case) { c.Issue = "https:///issues/1" }, "is no address of a report"},
		"a URL of a file":              {func(c *Case) { c.Issue = "file:///issues/1" }, "is no address of a report"},
		"a URL with a blank":           {func(c *Case) { c.Issue = "https://example.com/a b" }, "is no address of a report"},
		"no checkout":                  {func(c *Case) { c.Root = filepath.Join(root, "kafkatxn") }, "is no checkout of the suite"},
		"a package that is not there":  {func(c *Case) { c.Package = "pulsarquota" }, "there is no Go file in"},
	} {
		t.Run(name, func(t *testing.T) {
			c := good
			tt.change(&c)
			_, err := c.Write()
			require.ErrorContains(t, err, tt.want)
		})
	}
	kept, err := os.ReadFile(filepath.Join(root, "kafkatxn", "client_test.go"))
	require.NoError(t, err)
	require.Contains(t, string(kept), "underTest", "the file is as it was")

	_, err = good.Write()
	require.NoError(t, err)
	_, err = good.Write()
	require.ErrorContains(t, err, "the case kafkatxn/unseen is there already, in unseen_test.go")
}

func TestVariableOfACaseIsNoOtherName(t *testing.T) {
	there, err := readPackage(filepath.Join(suite, "kafkatxn"))
	require.NoError(t, err)
	for name, want := range map[string]string{
		"unseen": "unseen", "scene": "sceneCase", "select": "selectCase", "len": "lenCase", "time": "timeCase", "fault": "faultCase", "hanging": "hangingCase",
	} {
		require.Equal(t, want, there.free(name))
	}
}
