//go:build unix && !linux

package backend

import "syscall"

// attributes: without Linux nothing ends the child when the parent crashes.
func attributes(as account, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: as.credential()}
}
