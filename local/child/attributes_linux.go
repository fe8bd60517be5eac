package child

import "syscall"

// attributes make a child die with its parent, and keep it out of the terminal's
// process group.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
