package broker

import (
	"maps"

	"github.com/brokerfault/brokerfault/testenv/internal/dist"
)

// forRelease adds the file of rules of access that releases before 5.3 do not start without.
func forRelease(bill dist.Bill, launch func(Site) Launch) func(Site) Launch {
	return func(at Site) Launch {
		l := launch(at)
		if !dist.Before(bill.Version, 5, 3) {
			return l
		}
		l.Files = maps.Clone(l.Files)
		l.Files["conf/plain_acl.yml"] = "accounts: []\n"
		return l
	}
}
