package sketch

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/darrm/darrm/sketch/stream"
)

// Acceptance A2: the rows of each G_i are orthonormal, and K by XOR is G Gᵀ multiplied out.
func TestA2Orthonormal(t *testing.T) {
	for _, d := range []int{16, 1024} {
		for _, k := range []int{1, 5, 102} {
			if k > d {
				continue
			}
			n := max(1, min(3, d/k))
			c := Config{N: n, K: k, D: d, Ensemble: SRHT, Root: 42}
			s := c.sample(0)
			byXOR, err := s.gramXOR(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			multiplied, err := s.gramDense(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i := range n * k {
				for j := i; j < n*k; j++ {
					if diff := math.Abs(byXOR.At(i, j) - multiplied.At(i, j)); diff > 1e-12 {
						t.Fatalf("d = %d, k = %d: K[%d][%d] differ by %g", d, k, i, j, diff)
					}
					if want := map[bool]float64{true: 1}[i == j]; i/k == j/k && math.Abs(multiplied.At(i, j)-want) > 1e-12 {
						t.Fatalf("d = %d, k = %d: G Gᵀ[%d][%d] = %g", d, k, i, j, multiplied.At(i, j))
					}
				}
			}
		}
	}
}

// messages are n clients' numbers of standard normal vectors.
func messages(t testing.TB, c *Codec, round uint64, seed uint64) (y map[uint64][]float64, xs [][]float64) {
	t.Helper()
	r := stream.New(seed)
	y = map[uint64][]float64{}
	for i := range c.config.N {
		x := make([]float64, c.config.D)
		for j := range x {
			x[j] = r.Normal()
		}
		v, err := c.EncodeValues(round, uint64(i), x)
		if err != nil {
			t.Fatal(err)
		}
		y[uint64(i)], xs = v, append(xs, x)
	}
	return y, xs
}

func (c *Codec) system(round uint64, y map[uint64][]float64) *system {
	s := &system{codec: c, config: c.config}
	for _, i := range slices.Sorted(maps.Keys(y)) {
		s.g = append(s.g, c.config.matrix(round, i))
		s.y = append(s.y, y[i])
	}
	return s
}

// Acceptance A3: conjugate gradients, Cholesky and eigenvalues agree to 1e-8; so do K and S.
func TestA3PathsAgree(t *testing.T) {
	for _, v := range [][3]int{{4, 12, 64}, {10, 10, 128}, {3, 30, 64}, {1, 9, 16}} {
		for _, rho := range []float64{0.1, 0.5, 0.9} {
			c := codec(t, Config{N: v[0], K: v[1], D: v[2], Ensemble: SRHT, T: Transform{Rho: rho}, Root: 5})
			y, _ := messages(t, c, 0, 9)
			s := c.system(0, y)
			sum := newSummer(1, v[0], v[1], v[2])
			steps, err := s.conjugateGradients(t.Context(), sum, rho, s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			cholesky, err := s.solveGram(t.Context(), sum, linear{rho: rho}, s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			eigen, err := s.solveGram(t.Context(), sum, linear{custom: func(l float64) float64 { return 1 - rho + rho*l }}, s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			a, err := s.outer(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			byS, err := apply(a, linear{rho: rho}, v[0], s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprint(v, rho, " Cholesky"), cholesky, steps, 1e-8)
			near(t, fmt.Sprint(v, rho, " eigenvalues"), eigen, steps, 1e-8)
			near(t, fmt.Sprint(v, rho, " S"), byS, steps, 1e-8)
		}
	}
}

// ρ = 1 with K singular: (2,4,8) has rank < 8 in most draws. The definition, by the eigenvalues of S, decides.
func TestMaxUsesThePseudoInverse(t *testing.T) {
	singular := 0
	for round := range uint64(20) {
		c := codec(t, Config{N: 2, K: 4, D: 8, Ensemble: SRHT, T: Transform{Rho: 1}, Root: 1})
		y, _ := messages(t, c, round, round)
		s := c.system(round, y)
		if s.rank() < 8 {
			singular++
		}
		got, err := s.solve(t.Context(), newSummer(1, 2, 4, 8), linear{rho: 1}, s.lifted())
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.outer(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want, err := apply(a, linear{custom: func(l float64) float64 { return l }}, 2, s.lifted())
		if err != nil {
			t.Fatal(err)
		}
		near(t, "decode", got, want, 1e-8)
	}
	if singular < 5 {
		t.Errorf("only %d of 20 rounds are singular", singular)
	}
}

// Acceptance A7, Lemma 2.4.1: with row selection the general decoder is Rand-k-Spatial's.
func TestA7RowSelectionInTheGeneralDecoder(t *testing.T) {
	for _, rho := range []float64{0, 0.5, 1} {
		for _, v := range [][3]int{{5, 4, 20}, {5, 9, 20}, {1, 3, 7}} { // K, S, one client
			c := codec(t, Config{N: v[0], K: v[1], D: v[2], Ensemble: RowSelect, T: Transform{Rho: rho}, Root: 3})
			if v[0] == 1 && rho != 0 {
				continue
			}
			y, _ := messages(t, c, 0, 4)
			s := c.system(0, y)
			want, err := s.diagonal(linear{rho: rho}, s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.solveGram(t.Context(), newSummer(1, v[0], v[1], v[2]), linear{rho: rho}, s.lifted())
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprint(v, rho), got, want, 1e-10)
		}
	}
}

// Acceptance A9: a process that knows only the messages and the parameters decodes to the same bits.
func TestA9AnotherProcess(t *testing.T) {
	type parcel struct {
		Config   Config
		Round    uint64
		Messages map[uint64][]byte
	}
	const variable = "DARRM_SKETCH_PARCEL"
	if path := os.Getenv(variable); path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var p parcel
		if err := json.Unmarshal(b, &p); err != nil {
			t.Fatal(err)
		}
		x, err := Decode(t.Context(), codec(t, p.Config), p.Round, p.Messages)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("mean %x\n", bitsOf(x))
		return
	}
	for _, e := range []Ensemble{RowSelect, SRHT} {
		// A custom T is a function, which JSON leaves out: Avg says the same.
		p := parcel{Config{N: 4, K: 40, D: 200, Ensemble: e, T: Transform{Rho: 0.5}, Root: 77}, 6, map[uint64][]byte{}}
		c := codec(t, p.Config)
		_, xs := messages(t, c, 6, 8)
		for i, x := range xs {
			m, err := c.Encode(6, uint64(i), x)
			if err != nil {
				t.Fatal(err)
			}
			if len(m) != 48+8*40 {
				t.Errorf("%d bytes, want a header and k numbers", len(m))
			}
			p.Messages[uint64(i)] = m
		}
		want, err := Decode(t.Context(), c, 6, p.Messages)
		if err != nil {
			t.Fatal(err)
		}
		type noFunc struct {
			N, K, D  int
			Ensemble Ensemble
			T        struct{ Rho float64 }
			Root     uint64
		}
		b, err := json.Marshal(map[string]any{"Config": noFunc{4, 40, 200, e, struct{ Rho float64 }{0.5}, 77}, "Round": 6, "Messages": p.Messages})
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/parcel"
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestA9AnotherProcess$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"="+path)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), fmt.Sprintf("mean %x\n", bitsOf(want))) {
			t.Errorf("%v: another process decodes differently: %v\n%s", e, err, out)
		}
	}
}

func bitsOf(x []float64) []uint64 {
	b := make([]uint64, len(x))
	for j, v := range x {
		b[j] = math.Float64bits(v)
	}
	return b
}

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
		x, err := Decode(t.Context(), co, 1, m)
		if err != nil {
			t.Fatal(err)
		}
		return x
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
	transforms := []Transform{{}, {Rho: 0.5}, {Avg: true}, {Rho: 1}, {PlugIn: true}, {Custom: func(l float64) float64 { return 1 + math.Sqrt(l) }}}
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
		c.T = Transform{Rho: RhoMax()}
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
		near(t, "d = 1", decode(Config{N: 2, K: 1, D: 1, Ensemble: e}, [][]float64{{3}, {5}}), []float64{4}, 1e-15)
	}
	for _, k := range []int{0, -1, 9} {
		if _, err := NewCodec(Config{N: 2, K: k, D: 8, Ensemble: SRHT}); err == nil || !strings.Contains(err.Error(), "numbers per client k") {
			t.Errorf("k = %d: %v", k, err)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	good := Config{N: 4, K: 2, D: 8, Ensemble: SRHT}
	for want, change := range map[string]func(c *Config){
		"ensemble":                  func(c *Config) { c.Ensemble = 0 },
		"dimension d":               func(c *Config) { c.D = 0 },
		"dimension d = 1073741824":  func(c *Config) { c.D = 1 << 30 },
		"clients n = 0":             func(c *Config) { c.N = 0 },
		"clients n = 1152921504606": func(c *Config) { c.N = 1152921504606 },
		"rho = -0.4":                func(c *Config) { c.T.Rho = -0.4 },
		"rho = 1.1":                 func(c *Config) { c.T.Rho = 1.1 },
		"rho = NaN":                 func(c *Config) { c.T.Rho = math.NaN() },
		"at most one of them":       func(c *Config) { c.T = Transform{Rho: 0.5, Avg: true} },
		"workers":                   func(c *Config) { c.Workers = -1 },
		"dense ensemble":            func(c *Config) { *c = Config{N: 1 << 12, K: 1 << 8, D: 1 << 20, Ensemble: Gaussian} },
		"closed form is known":      func(c *Config) { c.T.Rho = 0.5; c.Beta.Kind = BetaClosed },
		"asymptotic form is known":  func(c *Config) { c.T.Custom = math.Sqrt; c.Beta.Kind = BetaAsymptotic },
		"draws for beta":            func(c *Config) { c.Beta.Draws = 5 },
	} {
		c := good
		change(&c)
		if _, err := NewCodec(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	c := codec(t, Config{N: 2, K: 2, D: 8, Ensemble: SRHT, T: Transform{Custom: func(l float64) float64 { return l - 1 }}, Beta: BetaMode{BetaMonteCarlo, 3}})
	y, _ := messages(t, c, 0, 1)
	if _, err := c.DecodeValues(t.Context(), 0, y); err == nil || !strings.Contains(err.Error(), "positive and finite") {
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
			want, err := codec(t, cfg).DecodeValues(t.Context(), 2, y)
			if err != nil {
				t.Fatal(err)
			}
			got, err := full.DecodeValues(t.Context(), 2, y)
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
	b, err := codec(t, c).Beta(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The mean has the same bits for every number of workers and processors, and for every order of messages.
func TestDeterministic(t *testing.T) {
	for _, c := range []Config{
		{N: 37, K: 7, D: 1000, Ensemble: SRHT, T: Transform{Rho: 0.5}, Root: 1},  // conjugate gradients
		{N: 40, K: 25, D: 1024, Ensemble: SRHT, T: Transform{Rho: 0.9}, Root: 1}, // the same
		{N: 8, K: 16, D: 2048, Ensemble: SRHT, T: Transform{Avg: true}, Root: 1}, // Cholesky
		{N: 5, K: 30, D: 256, Ensemble: SRHT, T: Transform{Rho: 1}, Root: 1},
		{N: 6, K: 5, D: 128, Ensemble: SRHT, T: Transform{Avg: true}, Root: 8}, // β by Monte Carlo
		{N: 3, K: 4, D: 64, Ensemble: Gaussian, T: Transform{Rho: 0.5}, Root: 1, Beta: BetaMode{BetaMonteCarlo, 20}},
	} {
		var want []float64
		for _, workers := range []int{1, 2, 3, 16} {
			before := runtime.GOMAXPROCS(min(workers, 2))
			c.Workers = workers
			co := codec(t, c)
			shared = laws{} // β by Monte Carlo is found again
			y, xs := messages(t, co, 0, 3)
			d := co.NewDecoder(0)
			clients := slices.Sorted(maps.Keys(y))
			if workers > 1 {
				slices.Reverse(clients)
			}
			for _, i := range clients {
				m, err := co.Encode(0, i, xs[i])
				if err != nil {
					t.Fatal(err)
				}
				if err := d.Add(i, m); err != nil {
					t.Fatal(err)
				}
			}
			got, err := d.Mean(t.Context())
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: another mean with %d workers", c, workers)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	c := codec(t, Config{N: 40, K: 25, D: 1024, Ensemble: SRHT, T: Transform{Rho: 0.9}})
	y, _ := messages(t, c, 0, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.DecodeValues(ctx, 0, y); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("got %v", err)
	}
}

// Linear, and exact in expectation of nothing else: decoding is linear in the messages, and
// scaling or adding vectors scales and adds means.
func TestDecodeIsLinear(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := rapid.SampledFrom([]Ensemble{RowSelect, SRHT, Gaussian, GaussianRowNorm, CountSketch}).Draw(rt, "ensemble")
		d := rapid.IntRange(1, 40).Draw(rt, "d")
		cfg := Config{N: rapid.IntRange(1, 6).Draw(rt, "n"), K: rapid.IntRange(1, d).Draw(rt, "k"), D: d, Ensemble: e,
			T: Transform{Rho: rapid.Float64Range(0, 0.95).Draw(rt, "rho")}, Root: rapid.Uint64().Draw(rt, "root"), Beta: BetaMode{BetaMonteCarlo, 2}}
		c := codec(t, cfg)
		a, _ := messages(t, c, 0, 1)
		b, _ := messages(t, c, 0, 2)
		mix := map[uint64][]float64{}
		for i := range a {
			for j := range a[i] {
				mix[i] = append(mix[i], 2*a[i][j]-3*b[i][j])
			}
		}
		var x [3][]float64
		for i, y := range []map[uint64][]float64{a, b, mix} {
			var err error
			if x[i], err = c.DecodeValues(t.Context(), 0, y); err != nil {
				rt.Fatal(err)
			}
		}
		for j := range x[0] {
			x[0][j] = 2*x[0][j] - 3*x[1][j]
		}
		near(t, "mean", x[2], x[0], 1e-7)
	})
}

// The three dense ensembles against the definition: β/n · f(S) Σ Gᵀ y by eigenvalues of S.
func TestAblationsAgainstTheDefinition(t *testing.T) {
	for _, e := range []Ensemble{Gaussian, GaussianRowNorm, CountSketch, SRHT} {
		for _, rho := range []float64{0.5, 1} {
			for _, k := range []int{4, 14} {
				c := codec(t, Config{N: 3, K: k, D: 32, Ensemble: e, T: Transform{Rho: rho}, Root: 9, Beta: BetaMode{BetaMonteCarlo, 10}})
				y, _ := messages(t, c, 0, 2)
				got, err := c.DecodeValues(t.Context(), 0, y)
				if err != nil {
					t.Fatal(err)
				}
				s := c.system(0, y)
				a, err := s.outer(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var eig mat.EigenSym
				eig.Factorize(a, true)
				var v mat.Dense
				eig.VectorsTo(&v)
				want := make([]float64, 32)
				b := s.lifted()
				for i, l := range eig.Values(nil) {
					if l < 1e-9 {
						continue
					}
					col := mat.Col(nil, i, &v)
					f := betaOf2(t, c.config) / 3 * dot(col, b) / (1 - rho + rho*l)
					for j := range want {
						want[j] += f * col[j]
					}
				}
				near(t, fmt.Sprint(e, rho, k), got, want, 1e-7)
			}
		}
	}
}
