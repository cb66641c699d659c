//go:build unix

// Package processor tells measurements how long processors worked for them, which other programs on
// the machine do not change.
package processor

import "golang.org/x/sys/unix"

// Time returns the processor time of this process in seconds.
func Time() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
