package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder makes the directory at path unless it is there, and forces its name, and the names in it,
// to disk: what another process made there before it was killed survives a power failure too.
func Folder(path string, perm fs.FileMode) error {
	if err := os.Mkdir(path, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(syncDir(path), syncDir(filepath.Dir(path)))
}
