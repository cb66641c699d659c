//go:build unix

package main

import "golang.org/x/sys/unix"

// processorTime returns how many seconds processors have worked for this process.
func processorTime() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
