package testenv

import (
	"flag"
	"strconv"
)

// SideBySide says how many of the package's parallel tests run at the same time, unless go
// test's -parallel says so. It is for a TestMain, before m.Run. Without it they are as
// many as there are processors, of which scenarios, which mostly wait, use little.
func SideBySide(tests int) {
	if !flag.Parsed() {
		flag.Parse()
	}
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if asked {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(tests)); err != nil {
		panic("testenv.SideBySide: " + err.Error())
	}
}
