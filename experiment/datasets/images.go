package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
)

// The parts of a set of images, each an IDX pair.
const (
	trainPart = "train"
	testPart  = "t10k"
)

// CheckFolder refuses a folder of images that is not below the data folder.
func CheckFolder(name string) error {
	if !filepath.IsLocal(name) {
		return check.Want("data", fmt.Sprintf("%q", name), "a folder below the data folder")
	}
	return nil
}

// ImageFiles returns the paths of the IDX files of a folder below root, by their names.
func ImageFiles(root, name string) (map[string]string, error) {
	out := map[string]string{}
	for _, part := range []string{trainPart, testPart} {
		for _, file := range []string{part + "-images-idx3-ubyte", part + "-labels-idx1-ubyte"} {
			path, err := data.FindIDX(filepath.Join(root, name), file)
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%w; scripts/fetch-mnist %s fetches it, and any folder of IDX files serves", err, root)
			}
			if err != nil {
				return nil, err
			}
			out[file] = path
		}
	}
	return out, nil
}

// OpenImages reads the training and the test images of a folder.
func OpenImages(ctx context.Context, dir string) (train, test data.LabelledImages, err error) {
	train, err = data.ReadLabelledImages(ctx, dir, trainPart)
	if err == nil {
		test, err = data.ReadLabelledImages(ctx, dir, testPart)
	}
	return train, test, err
}

// Averaged returns the means of squares of pixels, in [0,1].
func Averaged(image []byte, rows, columns, side int) (out []float64) {
	for top := 0; top+side <= rows; top += side {
		for left := 0; left+side <= columns; left += side {
			sum := 0
			for r := top; r < top+side; r++ {
				for _, v := range image[r*columns+left : r*columns+left+side] {
					sum += int(v)
				}
			}
			out = append(out, float64(sum)/float64(side*side*255))
		}
	}
	return out
}
