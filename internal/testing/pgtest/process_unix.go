//go:build unix

package pgtest

import "syscall"

func stop(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }
func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
