package shuffled_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The reference run is one draw of what it does not tell: the noise, and with it which
// step size comes out best, the clients of credit-card, crime's matrix, the starts. So its
// figures are compared with the law of ours over such draws: a figure is within the noise
// if it lies in the interval that holds one more draw with probability 99.9 %, were the
// logarithms normal, widened by the rounding of what is printed.
type within struct {
	t     *testing.T
	draws int
}

// excluded reports whether a printed figure lies outside that interval of our draws.
func (w within) excluded(what, printed string, ours []float64) bool {
	w.t.Helper()
	value, err := strconv.ParseFloat(printed, 64)
	if err != nil {
		w.t.Fatal(err)
	}
	_, decimals, _ := strings.Cut(printed, ".")
	half := 0.5 * math.Pow(10, -float64(len(decimals)))
	logs := make([]float64, len(ours))
	for i, v := range ours {
		logs[i] = math.Log(v)
	}
	mean, std := stat.MeanStdDev(logs, nil)
	n := float64(len(ours))
	reach := std * math.Sqrt(1+1/n) * distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.9995)
	lo, hi := math.Exp(mean-reach), math.Exp(mean+reach)
	outside := value+half < lo || value-half > hi
	note := ""
	if outside {
		note = "  OUTSIDE"
	}
	w.t.Logf("%-50s %8s in [%.4g, %.4g], ours %.4g%s", what, printed, lo, hi, math.Exp(mean), note)
	return outside
}

var compared = []shuffled.Scheme{shuffled.PublicOnly, shuffled.DPShuffleG, shuffled.PrivPub,
	shuffled.PubPriv, shuffled.Interleaved}

// excess returns the tuned excess of a method in the study of every draw.
func (w within) excess(study func(draw int) *study, m shuffled.Scheme, eps, p float64) []float64 {
	var out []float64
	for draw := range w.draws {
		s := study(draw)
		s.quiet = true
		out = append(out, s.tune(m, eps, p).Mean)
	}
	return out
}

func (w within) table(name string, load func(seed uint64) (datasets.Set, error), repeats int,
	rows map[string]string) {
	w.t.Helper()
	study := func(draw int) *study {
		set, err := load(uint64(draw + 1))
		if err != nil {
			w.t.Fatal(err)
		}
		return newStudy(w.t, set, repeats, train.StepSizes()).after(1000 * draw)
	}
	for eps, row := range rows {
		e, err := strconv.ParseFloat(eps, 64)
		if err != nil {
			w.t.Fatal(err)
		}
		var ours [5][]float64
		for i, printed := range strings.Fields(row) {
			ours[i] = w.excess(study, compared[i], e, 0.5)
			if w.excluded(name+", eps "+eps+", "+string(compared[i]), printed, ours[i]) {
				w.t.Errorf("%s, eps %s: the reference's %s of %s is not within our noise, %.4g", name, eps,
					printed, compared[i], ours[i])
			}
		}
		best := 0
		for d := range w.draws {
			if ours[4][d] < min(ours[1][d], ours[2][d], ours[3][d]) {
				best++
			}
		}
		if w.t.Logf("%s, eps %s: interleaved is the best private method in %d of %d draws", name, eps,
			best, w.draws); 4*best < 3*w.draws {
			w.t.Error("too few")
		}
	}
}

// The reference run of the specification's section 5.6 on the real files. DARRM_DATA names
// their directory; five minutes on two cores.
func TestReferenceRunOnRealFiles(t *testing.T) {
	dir := os.Getenv("DARRM_DATA")
	if dir == "" || !long() {
		t.Skip("needs DARRM_DATA and DARRM_LONG=1")
	}
	for name, rows := range map[string]map[string]string{
		datasets.Crime: {"1": "0.238 0.198 0.221 0.200 0.0908",
			"5": "0.238 0.109 0.106 0.0986 0.0476"},
		datasets.COMPAS: {"5": "0.0038 0.761 0.610 0.629 0.0086",
			"10": "0.0038 0.614 0.279 0.545 0.0043"},
		datasets.CreditCard: {"5": "0.0258 1.52 1.48 1.53 1.16", "10": "0.0258 1.51 1.39 1.50 0.533"},
	} {
		t.Run(name, func(t *testing.T) {
			within{t, 12}.table(name, func(seed uint64) (datasets.Set, error) {
				return datasets.Load(context.Background(), name, dir, seed)
			}, 10, rows)
		})
	}
}

// The same of the stand-ins, whose seeds are the draws.
func TestReferenceRunOnStandins(t *testing.T) {
	if !long() {
		t.Skip("needs DARRM_LONG=1")
	}
	for name, rows := range map[string]map[string]string{
		datasets.Crime: {"1": "0.165 0.157 0.170 0.162 0.0736",
			"5": "0.165 0.0947 0.0939 0.0799 0.0317"},
		datasets.COMPAS:     {"10": "0.0012 0.596 0.294 0.514 0.0023"},
		datasets.CreditCard: {"10": "0.0099 1.70 1.56 1.62 0.573"},
	} {
		t.Run(name, func(t *testing.T) {
			within{t, 16}.table(name, func(seed uint64) (datasets.Set, error) {
				return datasets.Standin(name, seed)
			}, 5, rows)
		})
	}
}

// MNIST's test file, 958 images: nothing but noise and order is left to chance. A run is
// 4·10⁷ normals, so the step sizes are those around the best. DARRM_DATA_MNIST names the
// directory of the IDX files; six minutes on two cores.
func TestReferenceRunOnMNIST(t *testing.T) {
	dir := os.Getenv("DARRM_DATA_MNIST")
	if dir == "" || !long() {
		t.Skip("needs DARRM_DATA_MNIST and DARRM_LONG=1")
	}
	// Load prefers the training files.
	only := t.TempDir()
	for _, name := range []string{"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"} {
		for _, suffix := range []string{"", ".gz"} {
			if b, err := os.ReadFile(filepath.Join(dir, name+suffix)); err == nil {
				if err := os.WriteFile(filepath.Join(only, name+suffix), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	set, err := datasets.Load(context.Background(), datasets.MNIST69, only, 1)
	if err != nil {
		t.Fatal(err)
	}
	if set.Private.Len() != 958 {
		t.Fatalf("n = %d", set.Private.Len())
	}
	w := within{t, 5}
	excess := func(m shuffled.Scheme, order iteration.SampleOrder, eps, p float64,
		etas []float64) []float64 {
		return w.excess(func(draw int) *study {
			s := newStudy(t, set, 2, etas).after(2 * draw)
			s.order = order
			return s
		}, m, eps, p)
	}
	for _, v := range []struct {
		method  shuffled.Scheme
		order   iteration.SampleOrder
		eps, p  float64
		printed string
		etas    []float64
	}{
		{shuffled.PublicOnly, iteration.Reshuffled, 5, 0.5, "5.249", []float64{1e-2, 1e-3, 1e-4, 1e-5}},
		{shuffled.DPShuffleG, iteration.Reshuffled, 5, 0.5, "28.0", []float64{1e-5, 5e-6}},
		{shuffled.PrivPub, iteration.Reshuffled, 5, 0.5, "5.31", []float64{1e-3, 5e-4, 1e-4, 5e-5, 1e-5}},
		{shuffled.PubPriv, iteration.Reshuffled, 5, 0.5, "19.9", []float64{5e-5, 1e-5, 5e-6}},
		{shuffled.Interleaved, iteration.Reshuffled, 5, 0.5, "2.36", []float64{1e-4, 5e-5, 1e-5}},
		{shuffled.DPShuffleG, iteration.Reshuffled, 10, 0.5, "20.0", []float64{5e-5, 1e-5, 5e-6}},
		{shuffled.PrivPub, iteration.Reshuffled, 10, 0.5, "5.25",
			[]float64{1e-3, 5e-4, 1e-4, 5e-5, 1e-5}},
		{shuffled.PubPriv, iteration.Reshuffled, 10, 0.5, "14.0", []float64{5e-5, 1e-5, 5e-6}},
		{shuffled.Interleaved, iteration.Reshuffled, 10, 0.5, "1.71", []float64{1e-4, 5e-5, 1e-5}},
		{shuffled.Interleaved, iteration.Reshuffled, 5, 0.25, "3.65", []float64{1e-4, 5e-5, 1e-5}},
		{shuffled.Interleaved, iteration.Reshuffled, 5, 0.75, "1.90", []float64{1e-4, 5e-5, 1e-5}},
		{shuffled.Interleaved, iteration.Reshuffled, 10, 0.25, "3.19", []float64{1e-4, 5e-5, 1e-5}},
		{shuffled.Interleaved, iteration.Reshuffled, 10, 0.75, "0.98", []float64{1e-4, 5e-5, 1e-5}},
		{shuffled.Interleaved, iteration.ShuffledOnce, 5, 0.5, "2.40", []float64{1e-4, 5e-5, 1e-5}},
		{shuffled.Interleaved, iteration.FixedOrder, 5, 0.5, "3.10", []float64{1e-4, 5e-5, 1e-5}},
	} {
		ours := excess(v.method, v.order, v.eps, v.p, v.etas)
		what := "mnist, " + string(v.method) + ", " + v.order.String() + ", eps " +
			strconv.FormatFloat(v.eps, 'g', -1, 64) + ", p " + strconv.FormatFloat(v.p, 'g', -1, 64)
		if w.excluded(what, v.printed, ours) {
			t.Errorf("%s: the reference's %s is not within our noise, %.4g", what, v.printed, ours)
		}
	} // The intervals are narrow enough to tell a wrong noise: twice the ε is about half of it.
	if !w.excluded("MUTANT, half the noise", "2.36",
		excess(shuffled.Interleaved, iteration.Reshuffled, 10, 0.5, []float64{1e-4, 5e-5, 1e-5})) {
		t.Error("half the noise is not noticed")
	}
}
