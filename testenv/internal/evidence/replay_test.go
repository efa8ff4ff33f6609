package evidence

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplayIsALineForAShell(t *testing.T) {
	for want, r := range map[string]Replay{
		"BROKERFAULT_KAFKA=3.5.1 BROKERFAULT_BACKEND=process go test -run '^TestX$' -count=1 ./kafkatxn": {
			Settings: []string{"BROKERFAULT_KAFKA=3.5.1", "BROKERFAULT_BACKEND=process"}, Package: "./kafkatxn", Test: "TestX",
		},
		`go tool faultgate run -packages ./kafkatxn -client a/b=v1.0.0 -case '^kafkatxn/zombie$'`: {
			Package: "./kafkatxn", Test: "TestX", Client: "a/b=v1.0.0", Case: "kafkatxn/zombie",
		},
		`go test -run '^TestX$/^with_\(one\)_\$it'"'"'s$' -count=1 '/tmp/a b'`: {
			Package: "/tmp/a b", Test: "TestX/with_(one)_$it's",
		},
		"A='x y' B='' go test -run '^TestX$' -count=1 .": {Settings: []string{"A=x y", "B="}, Package: ".", Test: "TestX"},
	} {
		require.Equal(t, want, r.String())
	}
}

func TestRequiredFindsTheVersionInGoMod(t *testing.T) {
	const gomod = "module m\n\nrequire single.org/x v1.2.3\n\nrequire (\n\ta.org/b v0.1.0\n\ta.org/b/c v0.2.0 // indirect\n)\n\nreplace a.org/d => ../d\n"
	for module, want := range map[string]string{"single.org/x": "v1.2.3", "a.org/b": "v0.1.0", "a.org/b/c": "v0.2.0", "a.org/d": "", "a.org": ""} {
		require.Equal(t, want, Required(gomod, module), module)
	}
}
