//go:build !linux

package lambda

import "syscall"

// attributes are none: only Linux ends processes with their parent.
func attributes() *syscall.SysProcAttr { return nil }
