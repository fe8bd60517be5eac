//go:build !linux

package redis

import "syscall"

// dieWithParent is known to Linux only.
func dieWithParent() *syscall.SysProcAttr { return nil }
