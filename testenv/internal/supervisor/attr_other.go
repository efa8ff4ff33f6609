//go:build !linux

package supervisor

import (
	"syscall"
	"time"
)

func processGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}

// awaitEnd polls: there is no waitid here that leaves the process unreaped.
func awaitEnd(pid int) {
	for syscall.Kill(-pid, 0) == nil {
		time.Sleep(20 * time.Millisecond)
	}
}
