package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/darrm/darrm/learn/data"
)

// folders names the folders below the data folder that may hold the real files of a data set,
// besides the folder of its name and the data folder itself.
var folders = map[string][]string{
	MNIST69: {"mnist"}, // what scripts/fetch-mnist fills
	CIFAR10: {"cifar-10-batches-bin"},
}

// Open returns the data set of that name and seed: of its real files in or below the folder
// root, where they are, or else the stand-in. Files that are there but damaged are an error.
func Open(ctx context.Context, name, root string, seed uint64) (Set, error) {
	set, err := realFiles(ctx, name, root, seed)
	if errors.Is(err, fs.ErrNotExist) {
		return Standin(name, seed)
	}
	return set, err
}

// realFiles reads the real files. The error is fs.ErrNotExist where there are none;
// files that are there but damaged are another error: nothing stands in for them.
func realFiles(ctx context.Context, name, root string, seed uint64) (set Set, err error) {
	dirs := []string{filepath.Join(root, name)}
	for _, f := range folders[name] {
		dirs = append(dirs, filepath.Join(root, f))
	}
	err = firstOf(append(dirs, root), func(dir string) error {
		set, err = Load(ctx, name, dir, seed)
		return err
	})
	return set, err
}

// Inputs returns the hash of what is taken from real files, nil for a stand-in,
// which is a function of its seed.
func Inputs(ctx context.Context, name, root string, seed uint64) (map[string]string, error) {
	set, err := realFiles(ctx, name, root, seed)
	return inputs(err, false, func() (map[string]string, error) {
		return map[string]string{filepath.Base(set.Source) + ", the records taken": Hash(set)}, nil
	})
}

// inputs returns the hash of what was read, nil where the files are not there and need not be.
func inputs(read error, need bool, hash func() (map[string]string, error)) (map[string]string, error) {
	switch {
	case errors.Is(read, fs.ErrNotExist) && !need:
		return nil, nil
	case read != nil:
		return nil, read
	}
	return hash()
}

// Hash returns the SHA-256 of a data set's numbers, the start's included, in hexadecimal:
// the records of real files can be the same for two seeds that begin elsewhere.
func Hash(set Set) string {
	h := sha256.New()
	for _, r := range []*data.Records{set.Private, set.Public} {
		fmt.Fprintf(h, "%d %d %v\n", r.Len(), r.Dim(), r.HasResponses())
		hashRows(h, r)
	}
	_ = binary.Write(h, binary.LittleEndian, set.Start) // a hash takes all
	return hex.EncodeToString(h.Sum(nil))
}

// hashRows adds the features and the response of each record to a hash.
func hashRows(h io.Writer, r *data.Records) {
	for i := range r.Len() {
		_ = binary.Write(h, binary.LittleEndian, r.Row(i)) // a hash takes all
		_ = binary.Write(h, binary.LittleEndian, r.Response(i))
	}
}

// Label returns "real data" or "generated stand-in", which every picture and title of the set has.
func Label(set Set) string {
	if set.Standin {
		return "generated stand-in"
	}
	return "real data"
}
