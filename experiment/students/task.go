package students

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
)

// records are feature vectors of one length, the last feature always 1, with their classes, 0 or 1.
type records struct {
	x [][]float64
	y []int
}

// task has the data that one repetition learns from and is judged by.
type task struct{ private, pool, test records }

// images are two classes of images in IDX files.
type images struct {
	Data    string `json:"data"` // folder below Options.Data
	Title   string `json:"title"`
	Classes [2]int `json:"classes"` // labels of the images for the classes 0 and 1
	Side    int    `json:"side"`    // pixels are averaged in squares of this side
	Test    int    `json:"test"`    // so many training images are kept from the teachers, as the test
}

func (s *images) validate() error {
	if !filepath.IsLocal(s.Data) {
		return check.Want("data", fmt.Sprintf("%q", s.Data), "a folder below the data folder")
	}
	return cmp.Or(check.Whole("class", s.Classes[0], 0, 255), check.Whole("class", s.Classes[1], 0, 255),
		check.Whole("side", s.Side, 1, 64), check.Whole("test", s.Test, 1, 1<<20))
}

const (
	trainPart = "train"
	testPart  = "t10k"
)

// inputs returns the hashes of the files that are read.
func (s *images) inputs(ctx context.Context, root string) (map[string]string, error) {
	out := map[string]string{}
	for _, part := range []string{trainPart, testPart} {
		for _, name := range []string{part + "-images-idx3-ubyte", part + "-labels-idx1-ubyte"} {
			path, err := data.FindIDX(filepath.Join(root, s.Data), name)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%w; scripts/fetch-mnist %s fetches it", err, root)
			}
			if err != nil {
				return nil, err
			}
			if out[name], err = experiment.HashFile(ctx, path, data.MaxBytes); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// task draws the test from the training images, and the order of the pool, which is all test images.
func (s *images) task(ctx context.Context, root string, rng *rand.Rand) (t task, err error) {
	dir := filepath.Join(root, s.Data)
	train, err := data.ReadLabelledImages(ctx, dir, trainPart)
	if err != nil {
		return t, err
	}
	public, err := data.ReadLabelledImages(ctx, dir, testPart)
	if err != nil {
		return t, err
	}
	all := s.pick(train).shuffled(rng)
	if len(all.y) <= s.Test {
		return t, fmt.Errorf("%d training images of the classes, of which %d are to be the test", len(all.y), s.Test)
	}
	t.test, t.private = all.part(0, s.Test), all.part(s.Test, len(all.y))
	t.pool = s.pick(public).shuffled(rng)
	return t, nil
}

func (s *images) pick(set data.LabelledImages) (out records) {
	for i, label := range set.Labels {
		for class, name := range s.Classes {
			if int(label) == name {
				out.x = append(out.x, averaged(set.Image(i), set.Rows, set.Columns, s.Side))
				out.y = append(out.y, class)
			}
		}
	}
	return out
}

// averaged returns the means of squares of pixels, in [0,1], and a 1 behind them.
func averaged(image []byte, rows, columns, side int) (out []float64) {
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
	return append(out, 1)
}

// madeUp is a task of two normal laws.
type madeUp struct {
	Title     string       `json:"title"`
	Shares    [2]float64   `json:"shares"` // of the classes
	Means     [2][]float64 `json:"means"`
	Variances []float64    `json:"variances"` // of each feature, in both classes: the covariance is diagonal
	Records   int          `json:"records"`   // private ones
	Pool      int          `json:"pool"`
	Test      int          `json:"test"`
}

func (s *madeUp) validate() error {
	err := cmp.Or(check.Some("variances", len(s.Variances)), check.Whole("records", s.Records, 1, 1<<20),
		check.Whole("pool", s.Pool, 1, 1<<20), check.Whole("test", s.Test, 1, 1<<20),
		check.Open("share", s.Shares[0], 0, 1), check.Open("share", s.Shares[1], 0, 1))
	for _, v := range s.Variances {
		err = cmp.Or(err, check.UpTo("variance", v, 1e6))
	}
	for _, m := range s.Means {
		err = cmp.Or(err, check.Whole("length of a mean", len(m), len(s.Variances), len(s.Variances)))
	}
	if err == nil && math.Abs(s.Shares[0]+s.Shares[1]-1) > 1e-12 {
		err = check.Want("sum of the shares", s.Shares[0]+s.Shares[1], "1")
	}
	return err
}

func (s *madeUp) task(rng *rand.Rand) task {
	draw := func(n int) (out records) {
		for range n {
			class := 0
			if rng.Float64() < s.Shares[1] {
				class = 1
			}
			x := make([]float64, 0, len(s.Variances)+1)
			for j, v := range s.Variances {
				x = append(x, s.Means[class][j]+math.Sqrt(v)*rng.NormFloat64())
			}
			out.x, out.y = append(out.x, append(x, 1)), append(out.y, class)
		}
		return out
	}
	return task{draw(s.Records), draw(s.Pool), draw(s.Test)}
}

func (r records) part(from, to int) records { return records{r.x[from:to], r.y[from:to]} }

func (r records) shuffled(rng *rand.Rand) (out records) {
	for _, i := range rng.Perm(len(r.y)) {
		out.x, out.y = append(out.x, r.x[i]), append(out.y, r.y[i])
	}
	return out
}
