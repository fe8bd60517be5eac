package redis

import "syscall"

// dieWithParent lets the kernel kill the child when its parent dies, and keeps
// a Ctrl-C at the terminal from the child: its parent ends it in its own time.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
