//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// smallDisk BYTES ARG…: darrm ARG… where no file can grow beyond that many bytes, which is
// what a full disk is to it. The limit is lifted again before the process ends: the
// coverage that a test binary writes at its end needs room too.
func smallDisk() {
	most, err := strconv.ParseUint(os.Args[1], 10, 62)
	var old syscall.Rlimit
	if err == nil {
		err = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old)
	}
	limit := old
	limit.Cur = most
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "smalldisk:", err)
		os.Exit(99)
	}
	code := run(os.Args[2:])
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		fmt.Fprintln(os.Stderr, "smalldisk:", err)
		os.Exit(99)
	}
	os.Exit(code)
}

func init() { programs["smalldisk"] = smallDisk }
