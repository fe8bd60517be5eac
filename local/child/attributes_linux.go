package child

import "syscall"

// attributes returns the attributes of a child process: it is killed when its parent ends,
// and is not in the parent's process group, so that Ctrl-C does not reach it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
