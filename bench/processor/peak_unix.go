//go:build unix

package processor

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// Peak returns the largest resident set of a process that has ended, in bytes.
func Peak(ended *os.ProcessState) (int64, error) {
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, fmt.Errorf("no peak memory of a child process on %s", runtime.GOOS)
	}
	return bytesOf(int64(usage.Maxrss), runtime.GOOS), nil
}

// bytesOf converts ru_maxrss: bytes on macOS, KiB on the other systems. Linux counts
// the moment between fork and exec as well, so that no child shows less than this
// program itself, which is small.
func bytesOf(maxrss int64, goos string) int64 {
	if goos == "darwin" || goos == "ios" {
		return maxrss
	}
	return maxrss * 1024
}
