package lambda

import "syscall"

// attributes make a process die with this one, whatever kills it, and keep the
// terminal's Ctrl-C from it, so that running invocations can finish.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
