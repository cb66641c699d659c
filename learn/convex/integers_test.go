package convex

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
)

// denseTask has features in [-1, 1], of which one in eight is at an end and one in eight is 0.
func denseTask(t testing.TB, rng *rand.Rand, n, d int) *data.Sparse {
	t.Helper()
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		switch rng.IntN(8) {
		case 0:
			x[i] = float64(2*rng.IntN(2) - 1)
		case 1:
		default:
			x[i] = 2*rng.Float64() - 1
		}
	}
	for i := range y {
		y[i] = float64(rng.IntN(2))
	}
	r, err := data.NewRecords(n, d, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return data.SparseOf(r)
}

// Sums by the dense product, scores and all are those of math/big, at slopes as steep as they may
// be and for any number of records left over by blocks of rows.
func TestDenseSumsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	for _, n := range []int{2, 3, 64, 257, 1030} {
		const d = 7
		r := denseTask(t, rng, n, d)
		for _, stated := range []int{0, 1, 30} {
			p := frankWolfe(t, FrankWolfe{Setting: logistics(), Set: l1(t, d, 1), Steps: 3,
				SlopeBits: stated}, n, d)
			most := int64(1) << p.schedule.SlopeBits
			by, sum, want := make([]int64, n), make([]int64, d), make([]*big.Int, d)
			for i := range by {
				by[i] = 2 * (most - rng.Int64N(2)) // the largest change, from one end to the other
				if n > 64 {
					by[i] = rng.Int64N(4*most+1) - 2*most
				}
			}
			for j := range want {
				want[j] = new(big.Int)
			}
			for i := range n {
				columns, values := r.Row(i)
				for k, j := range columns {
					// The feature times 2^FeatureBits, cut off by math/big.
					f := new(big.Float).SetPrec(200).SetMantExp(big.NewFloat(values[k]),
						p.schedule.FeatureBits)
					x, _ := f.Int(nil)
					want[j].Add(want[j], x.Mul(x, big.NewInt(by[i])))
				}
			}
			p.integers(r).add(sum, by)
			for j, s := range sum {
				if want[j].Cmp(big.NewInt(s)) != 0 {
					t.Fatalf("n = %d, %d bits: sum %d is %d, by math/big %v", n, p.schedule.SlopeBits, j, s,
						want[j])
				}
				score := new(big.Int).Mul(want[j], big.NewInt(p.schedule.Levels))
				score.Quo(score, new(big.Int).Lsh(big.NewInt(1),
					uint(p.schedule.SlopeBits+p.schedule.FeatureBits)))
				if score.Cmp(big.NewInt(p.score(s))) != 0 {
					t.Fatalf("n = %d: the score of %d is %d, by math/big %v", n, s, p.score(s), score)
				}
			}
		}
	}
}

// No sum overflows for any number of records and any precision, and the precision that is refused
// would leave features too few digits.
func TestSumsFit(t *testing.T) {
	for log := 1; log <= 40; log++ {
		for _, n := range []int{1 << log, 1<<log + 1, 1<<(log+1) - 1} {
			for stated := range 42 {
				var s frankWolfeSchedule
				err := s.setBits(stated, n)
				if err != nil {
					if stated == 0 {
						t.Errorf("n = %d has no precision of its own: %v", n, err)
					}
					continue
				}
				sum := new(big.Int).Lsh(big.NewInt(2*int64(n)), uint(s.SlopeBits+s.FeatureBits))
				if !sum.IsInt64() || s.SlopeBits < 1 || s.FeatureBits < leastFeatureBits-1 ||
					s.FeatureBits > 30 {
					t.Errorf("n = %d, %d stated: %d digits of slopes, %d of features", n, stated, s.SlopeBits,
						s.FeatureBits)
				}
			}
		}
	}
}

// Features are no longer than before they were rounded, and scores of sums that a record can have
// moved are at most M apart.
func TestRoundingMovesNothingFurther(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	p := frankWolfe(t, FrankWolfe{Setting: logistics(), Set: l1(t, 2, 1), Steps: 3}, 12, 2)
	digits := p.schedule.SlopeBits + p.schedule.FeatureBits
	p.schedule.Levels = 3
	for range 20_000 {
		x := (2*rng.Float64() - 1) * (1 + 0x1p-52) * p.Radius
		if got := math.Ldexp(float64(p.feature(x)), -p.schedule.FeatureBits); !(math.Abs(got) <=
			math.Abs(x/p.Radius) && math.Abs(got) <= 1) {
			t.Fatalf("feature %v becomes %v", x, got)
		}
		a := rng.Int64N(8<<digits) - 4<<digits
		if change := p.score(a+1<<digits) - p.score(a); change < 0 || change > 3 {
			t.Fatalf("sums %d and 2^%d more have scores %d apart, a record 3", a, digits, change)
		}
	}
}

// The dense product and rows one by one give one model, for slopes of which few change too. The
// selection keeps no levels, whose items stand in the order in which scores changed.
func TestDenseRunIsTheSparseOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 76))
	const n, d = 202, 9
	r := denseTask(t, rng, n, d)
	for i, bits := range []int{0, 4, 12} {
		p := frankWolfe(t, FrankWolfe{Setting: logistics(), Set: l1(t, d, 1), Steps: 120,
			SlopeBits: bits, Selection: []Selection{PermuteAndFlip, Exponential, LaplaceNoise}[i]}, n, d)
		dense := newFrankWolfeRun(p, r, r.Transpose(), stream.Seeded(8).Source())
		rows := newFrankWolfeRun(p, r, r.Transpose(), stream.Seeded(8).Source())
		if dense.dense == nil {
			t.Fatal("records without zeros are taken for sparse ones")
		}
		rows.dense = nil
		for k := range p.schedule.Steps {
			for _, run := range []*frankWolfeRun{dense, rows} {
				if err := run.Round(t.Context(), k); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(dense.sum, rows.sum) || !slices.Equal(dense.Output(), rows.Output()) {
				t.Fatalf("%d bits, step %d: sums %v, by rows %v", bits, k, dense.sum, rows.sum)
			}
		}
		if bits == 4 && dense.touched >= p.schedule.Steps*n*d {
			t.Errorf("coarse slopes visit %d features, all of them in every step", dense.touched)
		}
	}
}

// A run that is resumed ends at the same model: there is one for each charge. Many scores are of
// different levels here, whose order within a level is that of the changes.
func TestFrankWolfeResumes(t *testing.T) {
	rng := rand.New(rand.NewPCG(77, 78))
	const n = 202
	for _, r := range []*data.Sparse{denseTask(t, rng, n, 9), sparseTask(t, rng, n, 40)} {
		p := frankWolfe(t, FrankWolfe{Setting: logistics(), Set: l1(t, r.Dim(), 1), Steps: 40}, n, r.Dim())
		a := must.Get(p.TrainSparse(r))(t)
		traintest.Resumes(t, "Frank-Wolfe", a, 7, traintest.Simulate(t, a, 7))
	}
}
