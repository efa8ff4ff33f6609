package broker

import (
	"maps"
	"slices"
	"strings"
)

// properties renders a Java properties file, sorted, with the overrides on
// top of the defaults. A value that is empty in overrides takes a default away.
func properties(defaults, overrides map[string]string) string {
	all := maps.Clone(defaults)
	maps.Copy(all, overrides)
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if value, given := overrides[key]; given && value == "" {
			continue
		}
		b.WriteString(key + "=" + escape.Replace(all[key]) + "\n")
	}
	return b.String()
}

// escape keeps a value on its line.
var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`)
