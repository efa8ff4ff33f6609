package dist

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxVersion bounds the length of a version, which becomes part of file names
// and image tags.
const maxVersion = 64

var plainVersion = regexp.MustCompile(`^[0-9][0-9A-Za-z.+-]*$`)

// checkVersion refuses what is not a plain version. Versions come from the
// environment and end up in paths, in XML and in image tags; Maven would also
// take a range such as "[3,4)" and resolve something else each month.
func checkVersion(broker, version string) error {
	switch {
	case len(version) > maxVersion:
		return fmt.Errorf("take a version of %s: %q... has %d bytes, at most %d are taken", broker, version[:maxVersion], len(version), maxVersion)
	case !plainVersion.MatchString(version):
		return fmt.Errorf("take a version of %s: %q is not a plain version: it starts with a digit and has only letters, digits, '.', '+' and '-', like 3.0.2", broker, version)
	}
	return nil
}

// release is the numeric start of a version: 4, 4, 0 of "4.4.0-rc1".
type release []int

func parseRelease(version string) (release, error) {
	var r release
	for part := range strings.SplitSeq(version, ".") {
		digits := part
		if i := strings.IndexFunc(part, func(c rune) bool { return c < '0' || c > '9' }); i >= 0 {
			digits = part[:i]
		}
		if digits == "" {
			break
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			return nil, fmt.Errorf("read the version %q: %w", version, err)
		}
		r = append(r, n)
		if digits != part {
			break
		}
	}
	return r, nil
}

// before reports whether r is older than the given release. Missing parts
// count as zero.
func (r release) before(other ...int) bool {
	n := max(len(r), len(other))
	return slices.Compare(pad(r, n), pad(other, n)) < 0
}

func pad(r []int, n int) []int {
	padded := make([]int, n)
	copy(padded, r)
	return padded
}

// Before reports whether a version is older than the given release. One that
// cannot be read is not; a bill refuses it.
func Before(version string, release ...int) bool {
	r, err := parseRelease(version)
	return err == nil && r.before(release...)
}
