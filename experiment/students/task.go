package students

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"

	"github.com/darrm/darrm/experiment/datasets"
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
	return cmp.Or(datasets.CheckFolder(s.Data), check.Whole("class", s.Classes[0], 0, 255), check.Whole("class", s.Classes[1], 0, 255),
		check.Whole("side", s.Side, 1, 64), check.Whole("test", s.Test, 1, 1<<20))
}

// task draws the test from the training images, and the order of the pool, which is all test images.
func (s *images) task(ctx context.Context, root string, rng *rand.Rand) (t task, err error) {
	train, public, err := datasets.OpenImages(ctx, filepath.Join(root, s.Data))
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
				out.x = append(out.x, append(datasets.Averaged(set.Image(i), set.Rows, set.Columns, s.Side), 1))
				out.y = append(out.y, class)
			}
		}
	}
	return out
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
