//go:build !unix

package main

import (
	"fmt"
	"os"
	"runtime"
)

func peakMemory(*os.ProcessState) (int64, error) {
	return 0, fmt.Errorf("no peak memory of a child process on %s", runtime.GOOS)
}
