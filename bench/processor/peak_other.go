//go:build !unix

package processor

import (
	"fmt"
	"os"
	"runtime"
)

// Peak returns an error: the peak memory of a child process is not known here.
func Peak(*os.ProcessState) (int64, error) {
	return 0, fmt.Errorf("no peak memory of a child process on %s", runtime.GOOS)
}
