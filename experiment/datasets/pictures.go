package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
)

// loadMNIST takes the first images of 6 as D and the first of 9, each turned by 180°, as
// P: 1000 of each, or as many as there are of both.
func (s *Set) loadMNIST(from folder) error {
	var images data.LabelledImages
	var err error
	for _, s.Source = range []string{trainPart, testPart} {
		if images, err = data.ReadLabelledImages(from.ctx, from.dir, s.Source); err == nil ||
			!errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return err
	}
	if s.Private, s.Public, err = sixesAndNines(images); err != nil {
		return fmt.Errorf("%s in %s: %w", s.Source, from.dir, err)
	}
	s.Source = filepath.Join(from.dir, s.Source)
	return nil
}

func sixesAndNines(images data.LabelledImages) (private, public *data.Records, err error) {
	d := images.Rows * images.Columns
	var six, nine []int
	for i, l := range images.Labels {
		switch l {
		case 6:
			six = append(six, i)
		case 9:
			nine = append(nine, i)
		}
	}
	n := min(1000, len(six), len(nine))
	if n == 0 {
		return nil, nil, errors.New("no image of a 6, or none of a 9")
	}
	return halves(func(part int) (*data.Records, error) {
		x := make([]float64, 0, n*d)
		for _, i := range [][]int{six, nine}[part][:n] {
			item := images.Image(i)
			for j := range item {
				v := item[j]
				if part == 1 { // turned
					v = item[len(item)-1-j]
				}
				x = append(x, float64(v)/255)
			}
		}
		return data.NewRecords(n, d, x, nil)
	})
}

// loadCIFAR takes the first 100 images of each class as D and the first 250 further ones
// of each of the classes 0 to 3 as P, in the files' order; the response is the class.
func (s *Set) loadCIFAR(from folder) error {
	const d, size = 3072, 3073
	var x, y [2][]float64
	var count [10][2]int
	var first string
	for batch := 1; batch <= 5; batch++ {
		f, path, err := from.open(fmt.Sprintf("data_batch_%d.bin", batch))
		if errors.Is(err, fs.ErrNotExist) && batch > 1 {
			break
		}
		if err != nil {
			return err
		}
		if first == "" {
			first = path
		}
		b, err := io.ReadAll(io.LimitReader(f, 10_000*size+1))
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if len(b) == 0 || len(b)%size != 0 || len(b) > 10_000*size {
			return fmt.Errorf("%s: %d bytes, but it must be up to 10000 images of %d", path, len(b), size)
		}
		for i := 0; i < len(b); i += size {
			label := b[i]
			if label > 9 {
				return fmt.Errorf("%s: image %d: %w", path, i/size+1,
					check.Want("label", label, "between 0 and 9"))
			}
			which := 0
			if count[label][0] == 100 {
				which = 1
			}
			if which == 1 && (label > 3 || count[label][1] == 250) {
				continue
			}
			count[label][which]++
			for _, v := range b[i+1 : i+size] {
				x[which] = append(x[which], float64(v)/255)
			}
			y[which] = append(y[which], float64(label))
		}
	}
	if len(y[0]) < 1000 || len(y[1]) < 1000 {
		return fmt.Errorf("%s: %d and %d images, but 1000 are needed of each; add the other batches",
			first, len(y[0]), len(y[1]))
	}
	s.Source = first
	var err error
	s.Private, s.Public, err = halves(func(part int) (*data.Records, error) {
		return data.NewRecords(1000, d, x[part], y[part])
	})
	return err
}
