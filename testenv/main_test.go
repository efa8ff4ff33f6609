package testenv

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	SideBySide(4)
	os.Exit(m.Run())
}
