//go:build !windows

package atomicfile

import (
	"errors"
	"os"
)

// place gives the file temp the name target, which nothing may have: a link, unlike a rename,
// replaces nothing.
func place(temp, target string) error {
	return errors.Join(os.Link(temp, target), os.Remove(temp))
}
