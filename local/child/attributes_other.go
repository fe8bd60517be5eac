//go:build !linux

package child

import "syscall"

// attributes returns nil: only Linux can kill a child when its parent ends.
func attributes() *syscall.SysProcAttr { return nil }
