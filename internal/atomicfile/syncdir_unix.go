//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// syncDir forces the entries of a directory to disk. Some file systems have no
// such operation and answer EINVAL or ENOTSUP; there is nothing left to do there.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
