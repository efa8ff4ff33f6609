package htmlreport

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// byVersion orders semantic versions as such, and others, as Kafka's 0.8.2.1, by their
// parts: as numbers where both are.
func byVersion(a, b string) int {
	va, vb := "v"+strings.TrimPrefix(a, "v"), "v"+strings.TrimPrefix(b, "v")
	if semver.IsValid(va) && semver.IsValid(vb) {
		return semver.Compare(va, vb)
	}
	return slices.CompareFunc(strings.Split(va[1:], "."), strings.Split(vb[1:], "."), func(x, y string) int {
		nx, errX := strconv.Atoi(x)
		ny, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return cmp.Compare(nx, ny)
		}
		return cmp.Compare(x, y)
	})
}
