package amplification

import (
	"errors"
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

func batch(reports int, gamma float64, mode Mode, streams int) Round {
	return Round{Mode: mode, Streams: streams, Reports: reports, Epsilon: 1, OneBit: true, Rate: gamma}
}

// The specification's numbers of mini-batch rounds.
func TestBatchNumbers(t *testing.T) {
	raced.Sequential(t)
	must.Near(t, "numeric", rdp(t, batch(5000, 0.05, Numeric, 1), 8), 3.17723e-6, 2e-6)
	must.Near(t, "leading order", 8*0.0025*leading(5000, 1), 3.17619e-6, 2e-6)
	must.Near(t, "ternary", rdp(t, batch(5000, 0.05, Ternary, 1), 8), 3.18675e-6, 2e-6)
	must.Near(t, "ternary, shared batch", rdp(t, batch(5000, 0.05, Ternary, 2), 8), 6.41370e-6, 2e-6)
	must.Near(t, "numeric", rdp(t, batch(1000, 0.1, Numeric, 1), 32), 2.55496e-4, 4e-6)
	must.Near(t, "ternary", rdp(t, batch(1000, 0.1, Ternary, 1), 32), 2.71835e-4, 4e-6)
	l, err := batch(5000, 0.05, TCDP, 1).tcdp()
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "tcdp", 8*l.slope, 4.332e-5, 1e-3)
	must.Near(t, "rho*", l.slope/(13*0.0025), 1.66614e-4, 1e-3)
	must.Near(t, "tcdp's last order", l.high, 4495, 2e-3)
	if _, err := batch(5000, 0.05, Paper, 1).RDP(8); !errors.Is(err, errRho) {
		t.Errorf("paper: %v", err)
	}
	// At order 2 the believed worst case is the proved one.
	must.Near(t, "order 2", rdp(t, batch(1000, 0.1, Numeric, 1), 2),
		rdp(t, batch(1000, 0.1, Ternary, 1), 2), 1e-4)
	// With all records in the batch numeric is exact.
	must.Near(t, "rate 1", rdp(t, batch(100, 1, Numeric, 1), 4), rdp(t, stream(100, 1), 4), 1e-3)
}

// ρ* is at least ε_RDP(α)/α at orders between those that were summed.
func TestSteepestIsABound(t *testing.T) {
	raced.Sequential(t)
	for _, v := range []struct {
		reports        int
		eps, high, top float64 // the peak over the leading order
	}{{1000, 0.5, 400, 1.01}, {1000, 1, 2000, 1.0502}, {1000, 2, 400, 1.62}} {
		b := newBlanket(v.reports, v.eps, true)
		sup := steepest(b, v.eps, v.high)
		var orders []float64
		for a := 1.0007; a < v.high; a = 1 + (a-1)*1.13 {
			orders = append(orders, a)
		}
		most := 0.0
		for i, rho := range exactRDP(b, v.eps, orders) {
			most = max(most, rho/orders[i])
		}
		if sup < most || sup > v.top*leading(v.reports, v.eps) {
			t.Errorf("%+v: rho* = %g, at an order %g, leading order %g", v, sup, most,
				leading(v.reports, v.eps))
		}
	}
}

// silo is one silo's batches by enumeration: records hold ±1 in each of two streams, d = 1.
type silo struct {
	batch   int
	epsilon float64
}

// subsets calls f with each subset of {0 … n-1} of the size.
func subsets(n, size int, f func([]int)) {
	var rec func(from int, s []int)
	rec = func(from int, s []int) {
		if len(s) == size {
			f(s)
			return
		}
		for i := from; i < n; i++ {
			rec(i+1, append(s, i))
		}
	}
	rec(0, nil)
}

// released is the joint law of the counts of one or two streams of a shared batch.
func (s silo) released(records [][2]int, streams int) []float64 {
	size := s.batch + 1
	out := make([]float64, size*size)
	total := 0.0
	subsets(len(records), s.batch, func(set []int) {
		var ones [2]int
		for _, i := range set {
			ones[0] += records[i][0]
			ones[1] += records[i][1]
		}
		total++
		a, b := counts(ones[0], s.batch-ones[0], s.epsilon), []float64{1}
		if streams == 2 {
			b = counts(ones[1], s.batch-ones[1], s.epsilon)
		}
		for i, p := range a {
			for j, q := range b {
				out[i*size+j] += p * q
			}
		}
	})
	for i := range out {
		out[i] /= total
	}
	return out
}

// worst is the largest divergence over all datasets of n records and replacements.
func (s silo) worst(n, streams int, alpha float64) float64 {
	values := [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	if streams == 1 {
		values = [][2]int{{0, 0}, {1, 0}}
	}
	most := 0.0
	var rec func(records [][2]int, from int)
	rec = func(records [][2]int, from int) {
		if len(records) < n-1 {
			for v := from; v < len(values); v++ {
				rec(append(records, values[v]), v)
			}
			return
		}
		var laws [][]float64
		for _, v := range values {
			laws = append(laws, s.released(append(records[:n-1:n-1], v), streams))
		}
		for _, p := range laws {
			for _, q := range laws {
				most = max(most, divergence(p, q, alpha))
			}
		}
	}
	rec(nil, 0)
	return most
}

// The proof of Ternary read by a machine: batches of silos of up to 5 records with values of ±1 in
// one stream or two, every dataset, every replacement, both directions. The truth is never above
// the bound. And the costs of two streams of one batch do not add: the truth is up to 2.16 times
// the double of one stream's numeric figure.
func TestTernaryIsABound(t *testing.T) {
	raced.Sequential(t)
	closest := 0.0
	for _, v := range []struct{ n, b int }{{2, 1}, {3, 1}, {4, 1}, {6, 1}, {3, 2}, {4, 2}, {5, 2},
		{4, 3}, {6, 3}, {5, 4}} {
		for _, eps := range []float64{0.05, 0.2, 1, 2, 4, 8} {
			s := silo{batch: v.b, epsilon: eps}
			for _, alpha := range []int{2, 3, 4, 5, 8, 16, 40} {
				for streams := 1; streams <= 2; streams++ {
					r := Round{Mode: Ternary, Streams: streams, Reports: v.b, Epsilon: eps, OneBit: true,
						Rate: float64(v.b) / float64(v.n)}
					truth, bound := s.worst(v.n, streams, float64(alpha)), rdp(t, r, float64(alpha))
					if truth > bound*(1+1e-12) {
						t.Errorf("%+v, eps = %g, alpha = %d, %d streams: %g above the bound %g", v, eps, alpha,
							streams, truth, bound)
					}
					closest = max(closest, truth/bound)
				}
			}
		}
	}
	t.Logf("the truth is up to %.3f of the bound", closest)
	s := silo{batch: 1, epsilon: 2}
	doubled := 2 * rdp(t, Round{Mode: Numeric, Streams: 1, Reports: 1, Epsilon: 2, OneBit: true,
		Rate: 0.25}, 2)
	must.Near(t, "joint truth over the double", s.worst(4, 2, 2)/doubled, 2.16, 0.01)
}

// Costs fall with more reports and rarer batches, are below all records' and above one stream's;
// batches of their own add.
func TestBatchOrders(t *testing.T) {
	for _, alpha := range []float64{2, 3, 8, 32} {
		one := rdp(t, batch(300, 0.05, Ternary, 1), alpha)
		both := rdp(t, batch(300, 0.05, Ternary, 2), alpha)
		apart := batch(300, 0.05, Ternary, 2)
		apart.ApartBatches = true
		if both < 2*one || both > 2.5*one {
			t.Errorf("alpha %g: shared %g, one %g", alpha, both, one)
		}
		must.Near(t, "batches of their own", rdp(t, apart, alpha), 2*one, 1e-12)
		if rarer := rdp(t, batch(300, 0.04, Ternary, 1), alpha); rarer >= one {
			t.Errorf("alpha %g: %g at 0.04, %g at 0.05", alpha, rarer, one)
		}
		if more := rdp(t, batch(330, 0.05, Ternary, 1), alpha); more >= one {
			t.Errorf("alpha %g: %g of 330, %g of 300", alpha, more, one)
		}
		if all := rdp(t, stream(300, 1), alpha); one >= all {
			t.Errorf("alpha %g: batch %g, all %g", alpha, one, all)
		}
	}
}

// Each mode refuses what it does not prove, by name.
func TestModesRefuse(t *testing.T) {
	for _, v := range []struct {
		name string
		r    Round
		want error
	}{
		{"sampled", batch(1000, 0.1, Exact, 1), errSampled},
		{"any, ternary", Round{Mode: Ternary, Streams: 1, Reports: 100, Epsilon: 1, Rate: 0.1},
			ErrReports},
		{"any, numeric", Round{Mode: Numeric, Streams: 1, Reports: 100, Epsilon: 1, Rate: 0.1},
			ErrReports},
		{"shared, numeric", batch(1000, 0.1, Numeric, 2), errUnproved},
		{"rate, tcdp", batch(1000, 0.11, TCDP, 1), errRate},
		{"all, tcdp", batch(1000, 1, TCDP, 1), errRate},
		{"few, tcdp", batch(3, 0.1, TCDP, 1), errRho},
	} {
		if _, err := v.r.RDP(2); !errors.Is(err, v.want) || !errors.Is(err, ErrInapplicable) {
			t.Errorf("%s: %v", v.name, err)
		}
		if _, err := v.r.Event(); !errors.Is(err, v.want) {
			t.Errorf("%s: event, %v", v.name, err)
		}
	}
	if _, err := batch(1000, 0.1, Numeric, 1).Event(); !errors.Is(err, errUnproved) {
		t.Errorf("an event of what is not proved: %v", err)
	}
	for _, r := range []Round{
		{}, {Streams: 3, Reports: 1, Epsilon: 1}, {Streams: 1, Epsilon: 1}, {Streams: 1, Reports: 1},
		{Streams: 1, Reports: 1, Epsilon: 33},
		{Streams: 1, Reports: 1, Epsilon: 1, Rate: 1.5},
		{Streams: 1, Reports: 1, Epsilon: 1, Rate: math.NaN()},
		{Streams: 1, Reports: 1, Epsilon: math.NaN()}, {Mode: "best", Streams: 1, Reports: 1, Epsilon: 1},
	} {
		if _, err := r.RDP(2); err == nil {
			t.Errorf("%+v accepted", r)
		}
		if _, err := r.Event(); err == nil {
			t.Errorf("%+v has an event", r)
		}
	}
	for _, v := range []struct {
		r     Round
		alpha float64
	}{{stream(10, 1), 1}, {stream(10, 1), math.Inf(1)}, {batch(1000, 0.1, Ternary, 1), 2.5},
		{batch(1000, 0.1, Ternary, 1), 257}} {
		if _, err := v.r.RDP(v.alpha); err == nil {
			t.Errorf("%v at %g", v.r, v.alpha)
		}
	}
	if _, err := (Round{Streams: 2, Reports: 10, Epsilon: 1, OneBit: true}).Delta(0.1); err == nil {
		t.Error("delta of two streams")
	}
}

// Truncated CDP of one batch for two streams is of the joint mechanism: twice the divergence, for
// half of the orders. Batches of their own add up and keep the orders. Both are never below
// Ternary.
func TestTwoStreamsOfTCDP(t *testing.T) {
	r := Round{Mode: TCDP, Streams: 1, Reports: 200, Epsilon: 0.5, OneBit: true, Rate: 0.05}
	at := func(streams int, apart bool) linear {
		r.Streams, r.ApartBatches = streams, apart
		l, err := r.tcdp()
		if err != nil {
			t.Fatal(err)
		}
		exact := r
		exact.Mode = Ternary
		if bound := rdp(t, exact, 8); 8*l.slope < bound {
			t.Errorf("%d streams: %g is below what is proved by Ternary, %g", streams, 8*l.slope, bound)
		}
		return l
	}
	one, joint, apart := at(1, false), at(2, false), at(2, true)
	must.Near(t, "joint divergence over one stream's", joint.slope/one.slope, 2, 1e-3)
	must.Near(t, "joint orders over one stream's", joint.high/one.high, 0.5, 1e-3)
	must.Near(t, "divergence of batches apart", apart.slope/one.slope, 2, 1e-12)
	must.Near(t, "orders of batches apart", apart.high/one.high, 1, 1e-12)
}
