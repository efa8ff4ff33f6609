package testenv

import (
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"strings"
)

// panicking says where the test panics, if it does. Package testing runs a test's
// clean-up before it looks for a panic, so that the test has not failed by then: only
// the stack, on top of which the clean-up runs, tells.
func panicking() (where string, is bool) {
	pcs := make([]uintptr, 256)
	frames := goruntime.CallersFrames(pcs[:goruntime.Callers(1, pcs)])
	for {
		frame, more := frames.Next()
		// What the runtime itself panics with, a nil map among it, has frames of its own.
		if is && !strings.HasPrefix(frame.Function, "runtime.") && !strings.HasPrefix(frame.Function, "internal/runtime/") {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line), true
		}
		if frame.Function == "runtime.gopanic" {
			is = true
		}
		if !more {
			return "an unknown place", is
		}
	}
}
