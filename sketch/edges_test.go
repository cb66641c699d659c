package sketch

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// Acceptance A10: the edges.
func TestA10Edges(t *testing.T) {
	decode := func(c Config, xs [][]float64) []float64 {
		t.Helper()
		co := codec(t, c)
		m := map[uint64][]byte{}
		for i, x := range xs {
			b, err := co.Encode(1, uint64(i), x)
			if err != nil {
				t.Fatal(err)
			}
			m[uint64(i)] = b
		}
		return must.Get(Decode(t.Context(), co, 1, m))(t)
	}
	average := func(xs [][]float64) []float64 {
		m := make([]float64, len(xs[0]))
		for _, x := range xs {
			for j, v := range x {
				m[j] += v / float64(len(xs))
			}
		}
		return m
	}
	transforms := []Transform{{}, {Rho: 0.5}, {Avg: true}, {Rho: 1}, {PlugIn: true},
		{Custom: func(l float64) float64 { return 1 + math.Sqrt(l) }}}
	for _, e := range []Ensemble{RowSelect, SRHT} {
		for i, tr := range transforms {
			// k = d: everything is sent, S = nI.
			c := Config{N: 3, K: 8, D: 8, Ensemble: e, T: tr, Root: 2}
			_, xs := messages(t, codec(t, c), 1, 3)
			near(t, fmt.Sprintf("%v, transform %d, k = d", e, i), decode(c, xs), average(xs), 1e-9)
			// One client: ρ has no meaning.
			c = Config{N: 1, K: 3, D: 8, Ensemble: e, T: tr, Root: 2}
			if tr.Custom == nil {
				plain := c
				plain.T = Transform{}
				near(t, "n = 1", decode(c, xs[:1]), decode(plain, xs[:1]), 1e-12)
			}
			// Zero vectors.
			c = Config{N: 3, K: 3, D: 11, Ensemble: e, T: tr, Root: 2}
			zero := make([]float64, 11)
			near(t, "zero vectors", decode(c, [][]float64{zero, zero, zero}), zero, 0)
			if r, q := Correlation([][]float64{zero, zero}); r != 0 || q != 0 {
				t.Errorf("Correlation of zero vectors = %g, %g", r, q)
			}
		}
		// For two clients Avg is Max.
		c := Config{N: 2, K: 3, D: 16, Ensemble: e, T: Transform{Avg: true}, Root: 2}
		_, xs := messages(t, codec(t, c), 1, 3)
		avg := decode(c, xs)
		c.T = Transform{Rho: 1}
		near(t, "n = 2", avg, decode(c, xs), 0)
		// nk > d: Max is exact for identical vectors with SRHT.
		c = Config{N: 10, K: 5, D: 16, Ensemble: e, T: Transform{Rho: 1}, Root: 2}
		_, xs = messages(t, codec(t, c), 1, 3)
		for i := range xs {
			xs[i] = xs[0]
		}
		if got := decode(c, xs); e == SRHT {
			near(t, "nk > d", got, xs[0], 1e-8)
		}
		// d = 1.
		near(t, "d = 1", decode(Config{N: 2, K: 1, D: 1, Ensemble: e}, [][]float64{{3}, {5}}),
			[]float64{4}, 1e-15)
	}
	for _, k := range []int{0, -1, 9} {
		if _, err := NewCodec(Config{N: 2, K: k, D: 8, Ensemble: SRHT}); err == nil ||
			!strings.Contains(err.Error(), "numbers per client k") {
			t.Errorf("k = %d: %v", k, err)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	good := Config{N: 4, K: 2, D: 8, Ensemble: SRHT}
	for want, change := range map[string]func(c *Config){
		"ensemble":                 func(c *Config) { c.Ensemble = 0 },
		"dimension d":              func(c *Config) { c.D = 0 },
		"dimension d = 1073741824": func(c *Config) { c.D = 1 << 30 },
		"clients n = 0":            func(c *Config) { c.N = 0 },
		"clients n = " + strconv.Itoa(math.MaxInt): func(c *Config) { c.N = math.MaxInt },
		"rho = -0.4":          func(c *Config) { c.T.Rho = -0.4 },
		"rho = 1.1":           func(c *Config) { c.T.Rho = 1.1 },
		"rho = NaN":           func(c *Config) { c.T.Rho = math.NaN() },
		"at most one of them": func(c *Config) { c.T = Transform{Rho: 0.5, Avg: true} },
		"workers":             func(c *Config) { c.Workers = -1 },
		"without a fast transform": func(c *Config) {
			*c = Config{N: 1 << 12, K: 1 << 8, D: 1 << 20, Ensemble: Gaussian}
		},
		"clients n of an ensemble": func(c *Config) { *c = Config{N: 1 << 12, K: 1, D: 1 << 20, Ensemble: CountSketch} },
		"beta = closed":            func(c *Config) { c.T.PlugIn = true; c.Beta.Kind = BetaClosed },
		"closed form is known":     func(c *Config) { c.T.Rho = 0.5; c.Beta.Kind = BetaClosed },
		"asymptotic form is known": func(c *Config) {
			c.T.Custom = math.Sqrt
			c.Beta.Kind = BetaAsymptotic
		},
		"draws for beta": func(c *Config) { c.Beta.Draws = 5 },
	} {
		c := good
		change(&c)
		if _, err := NewCodec(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	c := codec(t, Config{N: 2, K: 2, D: 8, Ensemble: SRHT,
		T:    Transform{Custom: func(l float64) float64 { return l - 1 }},
		Beta: BetaMode{BetaMonteCarlo, 3}})
	y, _ := messages(t, c, 0, 1)
	if _, err := c.decodeValues(t.Context(), 0, y); err == nil ||
		!strings.Contains(err.Error(), "positive and finite") {
		t.Errorf("a T below 0: %v", err)
	}
}

// When clients drop out, T and β are those of the clients that answered: the estimate equals
// that of a codec made for n', to the bit.
func TestDropOuts(t *testing.T) {
	for _, e := range []Ensemble{RowSelect, SRHT} {
		for _, tr := range []Transform{{Avg: true}, {Rho: 0.7}, {Rho: 1}, {PlugIn: true}} {
			full := codec(t, Config{N: 10, K: 20, D: 300, Ensemble: e, T: tr, Root: 4})
			y, _ := messages(t, full, 2, 6)
			for _, gone := range []uint64{0, 3, 4, 9} {
				delete(y, gone)
			}
			cfg := full.config
			cfg.N = len(y)
			want, err := codec(t, cfg).decodeValues(t.Context(), 2, y)
			if err != nil {
				t.Fatal(err)
			}
			got, err := full.decodeValues(t.Context(), 2, y)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, %+v: differs from a codec of n' = 6", e, tr)
			}
		}
	}
	// And β for n' is another: at n' = 6 it is near 58, at n = 10 near 54 for Avg.
	c := Config{N: 10, K: 20, D: 1024, Ensemble: SRHT, T: Transform{Avg: true}}
	six := c
	six.N = 6
	if a, b := betaOf2(t, c), betaOf2(t, six); math.Abs(a-b) < 0.1 {
		t.Errorf("β = %g for 10 and %g for 6 clients", a, b)
	}
}

func betaOf2(t testing.TB, c Config) float64 {
	return must.Get(codec(t, c).Beta(t.Context()))(t)
}

// No vector and one vector have no correlation, and one vector is its mean, however large it is.
func TestFewVectors(t *testing.T) {
	for _, c := range []struct {
		xs   [][]float64
		q    float64
		mean []float64
	}{{nil, 0, nil}, {[][]float64{{3, -4}}, 25, []float64{3, -4}}, {[][]float64{{1e200}}, math.Inf(1), []float64{1e200}}} {
		if r, q := Correlation(c.xs); r != 0 || q != c.q {
			t.Errorf("Correlation of %v = %g, %g", c.xs, r, q)
		}
		if mean := MeanOf(c.xs); !slices.Equal(mean, c.mean) {
			t.Errorf("the mean of %v is %v", c.xs, mean)
		}
	}
}

// The remark on nk near d names the ρ that is safe for so many clients.
func TestWarningNamesTheSafeRho(t *testing.T) {
	for _, n := range []int{2, 8} {
		c := codec(t, Config{N: n, K: 64 / n, D: 64, Ensemble: SRHT, T: Transform{Rho: 1}, Root: 1})
		if w := strings.Join(c.Warnings(), ""); !strings.Contains(w, fmt.Sprintf("rho = %.2g is safe", RhoAvg(max(n, 3)))) {
			t.Errorf("%d clients: %s", n, w)
		}
	}
}
