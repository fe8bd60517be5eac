//go:build !linux

package child

import "syscall"

// attributes are none: only Linux ends processes with their parent.
func attributes() *syscall.SysProcAttr { return nil }
