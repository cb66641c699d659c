package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/data"
)

// folders are where, below Options.Data, the real files of a data set may lie, besides
// the folder of its name and Options.Data itself.
var folders = map[string][]string{
	datasets.MNIST69: {"mnist"}, // what scripts/fetch-mnist fills
	datasets.CIFAR10: {"cifar-10-batches-bin"},
}

// dataset returns the data set of that name and seed: of its real files, where they are, or
// else the stand-in.
func dataset(ctx context.Context, name, root string, seed uint64) (datasets.Set, error) {
	set, err := realDataset(ctx, name, root, seed)
	if errors.Is(err, fs.ErrNotExist) {
		return datasets.Standin(name, seed)
	}
	return set, err
}

// realDataset reads the real files. The error is fs.ErrNotExist where there are none;
// files that are there but damaged are another error: nothing stands in for them.
func realDataset(ctx context.Context, name, root string, seed uint64) (datasets.Set, error) {
	dirs := []string{filepath.Join(root, name)}
	for _, f := range folders[name] {
		dirs = append(dirs, filepath.Join(root, f))
	}
	for _, dir := range dirs {
		if set, err := datasets.Load(ctx, name, dir, seed); !errors.Is(err, fs.ErrNotExist) {
			return set, err
		}
	}
	return datasets.Load(ctx, name, root, seed)
}

// datasetInputs returns the hash of what is taken from real files, nil for a stand-in,
// which is a function of its seed.
func datasetInputs(ctx context.Context, name, root string, seed uint64) (map[string]string, error) {
	set, err := realDataset(ctx, name, root, seed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return map[string]string{filepath.Base(set.Source) + ", the records taken": hashSet(set)}, nil
}

// hashSet returns the SHA-256 of a data set's numbers, the start's included, in hexadecimal:
// the records of real files can be the same for two seeds that begin elsewhere.
func hashSet(set datasets.Set) string {
	h := sha256.New()
	var b []byte
	add := func(numbers ...float64) {
		b = b[:0]
		for _, v := range numbers {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		h.Write(b)
	}
	for _, r := range []*data.Records{set.Private, set.Public} {
		fmt.Fprintf(h, "%d %d %v\n", r.Len(), r.Dim(), r.HasResponses())
		for i := range r.Len() {
			add(r.Row(i)...)
			add(r.Response(i))
		}
	}
	add(set.Start...)
	return hex.EncodeToString(h.Sum(nil))
}

// label says on every picture and title which of the two the data are.
func label(set datasets.Set) string {
	if set.Standin {
		return "generated stand-in"
	}
	return "real data"
}
