package solve

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// drawnBySubsets is drawn by its meaning: the mean over all choices of f.K() teachers of k, the first l
// of whom answer one.
func drawnBySubsets(f gamma.Func, k, l int) float64 {
	phi, sum, choices := f.Phi(), 0.0, 0.0
	for chosen := range 1 << k {
		ones, size := 0, 0
		for teacher := range k {
			if chosen>>teacher&1 == 1 {
				size++
				if teacher < l {
					ones++
				}
			}
		}
		if size == f.K() {
			sum, choices = sum+phi[ones], choices+1
		}
	}
	return -sum / choices
}

// What is private for some of the teachers is private for all when they are drawn: random problems,
// reaches and shapes. The certificate takes off rounding alone.
func TestDrawnKeepsThePromise(t *testing.T) {
	random := rand.New(rand.NewPCG(51, 3))
	reaches, below := 0, 0
	for run := range 60 {
		k := 3 + random.IntN(10)
		half := 1 + random.IntN(k-1)
		p := problem(t, k, []float64{0.5, 1, 2.5}[random.IntN(3)], []float64{0.1, 1}[random.IntN(2)],
			[]float64{0, 1e-3, 0.1}[random.IntN(3)])
		p.Affected = 1 + random.IntN(k)
		shape := gamma.Shapes()[random.IntN(3)]
		if run%10 == 0 { // of seven teachers some γ are below 0
			k, half, shape = 7+run/10, 7, gamma.Any
			p = problem(t, k, 1, 0.5, 0)
		}
		small := p
		small.K, small.Affected = half, min(p.Affected, half)
		if p.Affected < half {
			reaches++
		}
		f := optimal(t, small, twoSided(t, half, shape)).Func()
		if !f.Truthful() {
			below++
		}
		free := drawn(f, k)
		for l, x := range free {
			if want := drawnBySubsets(f, k, l); math.Abs(x-want) > 1e-12 {
				t.Fatalf("%d of %d, %d ones: γ %g, by its meaning %g", half, k, l, x, want)
			}
			if f.Truthful() && x < 0 || f.Monotone() && l > 0 && x > free[l-1] {
				t.Fatalf("%d of %d: %v is not of the shape of %v", half, k, free, f)
			}
		}
		whole := must.Get(gamma.FromFree(k, free))(t)
		c := must.Get(gamma.CertifyLargest(t.Context(), must.Get(constraints.NewSystem(p))(t), whole))(t)
		for l, x := range free {
			if got := c.Func().At(l); math.Abs(got-x) > 1e-9*math.Abs(x)+1e-12 {
				t.Fatalf("%+v: %d of %d teachers drawn have γ(%d) = %g, private is %g", p, half, k, l, x, got)
			}
		}
	}
	if reaches < 3 || below < 3 {
		t.Errorf("%d small reaches, %d γ below 0 somewhere: this tests little", reaches, below)
	}
}

// Counts of all teachers become those of teachers drawn: sums and symmetry stay, and so does a lead
// that all have.
func TestThinned(t *testing.T) {
	got := thinned([]float64{4, 0, 0, 0, 0, 1}, 3)
	for i, want := range []float64{4, 0, 0, 1} {
		if math.Abs(got[i]-want) > 1e-15 {
			t.Fatalf("%v", got)
		}
	}
	if got := thinned([]float64{0, 1, 0}, 1); got[0] != 0.5 || got[1] != 0.5 {
		t.Errorf("a tie became %v", got)
	}
	if thinned(nil, 3) != nil {
		t.Error("no counts became some")
	}
}

// For many teachers half of them come first. Their bound is not told as one of all, their table is a
// point to begin at, and an end before the first relaxation is no worse than they are. The optimum is
// the same as that of a program that began without them.
func TestHalfFirst(t *testing.T) {
	if raced.Enabled {
		t.Skip("solves as the smaller problems do, which are raced")
	}
	p := problem(t, 301, 2, 0.5, 1e-5)
	reports := []Progress{}
	table := optimal(t, p, Options{Progress: func(p Progress) { reports = append(reports, p) }})
	halves := 0
	for _, r := range reports {
		if r.Error > table.ExpectedError {
			t.Errorf("round %d: no error below %g, but the table has %g", r.Round, r.Error, table.ExpectedError)
		}
		if r.Error == 0 && r.Work > 0 {
			halves++
		}
	}
	if halves < 10 {
		t.Errorf("%d of %d reports are of half of the teachers", halves, len(reports))
	}
	half := p
	half.K, half.Affected = 151, 151
	small := optimal(t, half, Options{})
	early := optimal(t, p, Options{Work: int64(float64(reports[halves-1].Work) * halfOfWork)})
	if early.ExpectedError > small.ExpectedError+1e-3 {
		t.Errorf("error %g where the work ended, %g of half of the teachers", early.ExpectedError,
			small.ExpectedError)
	}
	pr := must.Get(newProgram(must.Get(constraints.NewSystem(p))(t), Options{}.withDefaults(), nil))(t)
	defer pr.close()
	free, _, err := pr.cuttingPlanes(t.Context())
	if err != nil || math.Abs(pr.errorOf(free)-table.ExpectedError) > 3*near*table.ErrorOfCoin() {
		t.Errorf("error %.12g begun at half of the teachers, %.12g without: %v", table.ExpectedError,
			pr.errorOf(free), err)
	}
}
