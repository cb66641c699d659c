package cache

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/darrm/darrm/internal/handle"
)

// An Entry describes one file of the store.
type Entry struct {
	Key     string    // "" if the file is too damaged to tell
	Path    string    // the file
	Size    int64     // bytes of the file, header included
	ModTime time.Time // when it was written
	Err     error     // why it is no good, usually a *CorruptError; nil for a sound entry
}

// List returns the entries of the store, sorted by key and then path, with damaged
// ones. Foreign and temporary files are left out. Every entry is read and checked.
func (s *Store) List() ([]Entry, error) {
	s = handle.Made(s)
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list cache: %w", err)
	}
	var out []Entry
	for _, d := range files {
		if !isEntry(d.Name()) {
			continue
		}
		e := Entry{Path: filepath.Join(s.dir, d.Name())}
		info, err := d.Info()
		if os.IsNotExist(err) {
			continue // removed since the directory was read
		}
		if err == nil {
			e.Size, e.ModTime = info.Size(), info.ModTime()
			var found entry
			found, err = readEntry(e.Path)
			e.Key = found.key
		}
		switch {
		case err == ErrNotFound:
			continue
		case err != nil:
			e.Err = err
		case entryName(e.Key) != d.Name():
			e.Err = &CorruptError{Path: e.Path, Reason: "the file name is not that of the key stored inside"}
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Path, b.Path))
	})
	return out, nil
}
