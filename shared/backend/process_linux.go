package backend

import "syscall"

// attributes put the child into a process group of its own, so that a Ctrl-C at
// the terminal reaches the parent alone, which then stops its children in order.
func attributes(as account, last syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: last, Credential: as.credential()}
}
