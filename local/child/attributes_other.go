//go:build !linux

package child

import "syscall"

// attributes returns nil. So, unlike on Linux, a child is not killed when its parent ends, and
// Ctrl-C reaches it.
func attributes() *syscall.SysProcAttr { return nil }
