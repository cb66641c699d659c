package sketch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/sketch/stream"
	"github.com/darrm/darrm/sketch/wire"
)

var example = []float64{8, 4, 2, 1, 1, 0, 0, 0}

// Acceptance A8, Wangni: probabilities and variances worked out by hand as fractions.
func TestA8Wangni(t *testing.T) {
	for _, c := range []struct {
		k        int
		x, p     []float64
		variance float64
	}{
		{2, example, []float64{1, 0.5, 0.25, 0.125, 0.125, 0, 0, 0}, 42},
		{3, example, []float64{1, 1, 0.5, 0.25, 0.25, 0, 0, 0}, 10},
		{2, []float64{10, 1, 1, 1}, []float64{1, 1. / 3, 1. / 3, 1. / 3}, 6},
		{2, []float64{-10, 1, -1, 1}, []float64{1, 1. / 3, 1. / 3, 1. / 3}, 6},
		{4, []float64{0, 3, 0, 0, 5}, []float64{0, 1, 0, 0, 1}, 0},
		{2, []float64{0, 0, 0}, []float64{0, 0, 0}, 0},
	} {
		w, err := newWangni(baseline{N: 1, K: c.k, D: len(c.x)})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := checkVector(c.x, len(c.x))
		if err != nil {
			t.Fatal(err)
		}
		got := w.probabilities(c.x, sum)
		if !slices.EqualFunc(got, c.p, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("k = %d of %v: p = %v, want %v", c.k, c.x, got, c.p)
		}
		if v, err := w.MSE(t.Context(), [][]float64{c.x}); err != nil || math.Abs(v-c.variance) > 1e-10 {
			t.Errorf("k = %d of %v: variance %g, want %g; %v", c.k, c.x, v, c.variance, err)
		}
	}
}

// Acceptance A8, Induced.
func TestA8Induced(t *testing.T) {
	for _, c := range []struct {
		k, top   int
		variance float64
	}{{1, 0, 602}, {2, 1, 154}, {3, 1, 66}, {4, 2, 18}, {2, 0, 258}, {4, 0, 86}} {
		if c.top > 0 && c.top != inducedTop(c.k) {
			t.Errorf("k = %d: %d by Top-k", c.k, inducedTop(c.k))
		}
		i, err := newInduced(baseline{N: 1, K: c.k, D: 8}, c.top)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := i.MSE(t.Context(), [][]float64{example}); err != nil || math.Abs(v-c.variance) > 1e-10 {
			t.Errorf("k = %d: variance %g, want %g; %v", c.k, v, c.variance, err)
		}
	}
	// Of coordinates that are equally large the first is taken.
	i, err := newInduced(baseline{N: 1, K: 3, D: 4}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if places, rest := i.split([]float64{1, -3, 3, 3}); !slices.Equal(places, []int{1, 2}) ||
		!slices.Equal(rest, []float64{1, 0, 0, 3}) {
		t.Errorf("places %v, rest %v", places, rest)
	}
}

// Every place of Rand-k2, each once, gives back exactly the vector on average, and the
// variance of the formula: enumerated over all C(8,2) = 28 subsets by the formula of the
// decoder, which TestBaselinesAgreeWithTheirFormulas ties to messages.
func TestInducedEnumeration(t *testing.T) {
	i, err := newInduced(baseline{N: 1, K: 4, D: 8}, 2)
	if err != nil {
		t.Fatal(err)
	}
	places, rest := i.split(example)
	mean, square, subsets := make([]float64, 8), 0.0, 0.0
	for a := range 8 {
		for b := a + 1; b < 8; b++ {
			out := make([]float64, 8)
			for _, j := range places {
				out[j] += example[j]
			}
			for _, j := range []int{a, b} {
				out[j] += 4 * rest[j]
			}
			subsets++
			for j, v := range out {
				mean[j] += v
				square += (v - example[j]) * (v - example[j])
			}
		}
	}
	for j := range mean {
		if mean[j] /= subsets; math.Abs(mean[j]-example[j]) > 1e-12 {
			t.Errorf("mean %v", mean)
		}
	}
	if math.Abs(square/subsets-18) > 1e-12 {
		t.Errorf("variance %g", square/subsets)
	}
}

// gaussians are n vectors of length 1 with ρ* = c, in directions that no coordinate prefers.
func gaussians(n, d int, c float64, root uint64) [][]float64 {
	basis := make([][]float64, n+1)
	s := stream.New(root, stream.Synthetic)
	for i := range basis {
		v := make([]float64, d)
		for j := range v {
			v[j] = s.Normal()
		}
		for _, u := range basis[:i] {
			p := dot(u, v)
			for j := range v {
				v[j] -= p * u[j]
			}
		}
		norm := math.Sqrt(dot(v, v))
		for j := range v {
			v[j] /= norm
		}
		basis[i] = v
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, d)
		for j := range out[i] {
			out[i][j] = math.Sqrt(c)*basis[0][j] + math.Sqrt(1-c)*basis[i+1][j]
		}
	}
	return out
}

// measuredRounds returns the mean squared error over rounds and its standard error, and the squared
// distance of the mean estimate from the truth.
func measuredRounds(t testing.TB, c Compressor, xs [][]float64,
	rounds int) (mse, se, bias float64) {
	t.Helper()
	n, d := len(xs), len(xs[0])
	truth, average := make([]float64, d), make([]float64, d)
	for _, x := range xs {
		for j, v := range x {
			truth[j] += v / float64(n)
		}
	}
	square := 0.0
	for round := range uint64(rounds) {
		messages := map[uint64][]byte{}
		for i, x := range xs {
			m, err := c.Encode(round, uint64(i), x)
			if err != nil {
				t.Fatal(err)
			}
			messages[uint64(i)] = m
		}
		got, err := Decode(context.Background(), c, round, messages)
		if err != nil {
			t.Fatal(err)
		}
		e := 0.0
		for j, v := range got {
			e += (v - truth[j]) * (v - truth[j])
			average[j] += v / float64(rounds)
		}
		mse += e / float64(rounds)
		square += e * e / float64(rounds)
	}
	for j, v := range average {
		bias += (v - truth[j]) * (v - truth[j])
	}
	return mse, math.Sqrt(max(0, square-mse*mse) / float64(rounds)), bias
}

// Messages, decoders and formulas agree, and the estimates are unbiased: within 5 standard
// errors (false alarm below 1e-6 each), and for the bias within twice its expectation
// MSE/rounds. The seeds are fixed. A decoder without the factor d/k2, or probabilities that
// are not divided by, fails by tens of standard errors.
func TestBaselinesAgreeWithTheirFormulas(t *testing.T) {
	xs := gaussians(4, 48, 0.5, 1)
	for j := range xs { // heavy tails, so that the adaptive ones have something to adapt to
		for a := range xs[j] {
			xs[j][a] = math.Pow(xs[j][a], 3)
		}
	}
	b := baseline{N: 4, K: 9, D: 48, Root: 7}
	w, err := newWangni(b)
	if err != nil {
		t.Fatal(err)
	}
	i, err := newInduced(b, inducedTop(b.K))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]interface {
		Compressor
		MSE(ctx context.Context, xs [][]float64) (float64, error)
	}{"Wangni": w, "Induced": i} {
		const rounds = 3000
		want, err := c.MSE(t.Context(), xs)
		if err != nil {
			t.Fatal(err)
		}
		mse, se, bias := measuredRounds(t, c, xs, rounds)
		if math.Abs(mse-want) > 5*se {
			t.Errorf("%s: MSE %g ± %g, formula %g", name, mse, se, want)
		}
		if bias > 2*want/rounds {
			t.Errorf("%s: bias² %g, expected %g", name, bias, want/rounds)
		}
	}
}

// The distortion of the Lloyd-Max quantisers (Max, 1960, Table I) and the unbiased errors that
// DRIVE and EDEN state for large d.
func TestLloydMax(t *testing.T) {
	for i, c := range []struct{ distortion, error float64 }{{0.3634, 0.571}, {0.1175, 0.133},
		{0.03454, 0.0358}, {0.009497, 0.0096}} {
		q := lloydMax(i + 1)
		if math.Abs(q.distortion-c.distortion) > 5e-5 || math.Abs(1/(1-q.distortion)-1-c.error) > 5e-4*
			math.Max(1, 100*c.error) {
			t.Errorf("%d bits: distortion %g, error %g", i+1, q.distortion, 1/(1-q.distortion)-1)
		}
		if len(q.values) != 1<<(i+1) || len(q.edges) != len(q.values)-1 || !slices.IsSorted(q.values) {
			t.Errorf("%d bits: %v, %v", i+1, q.values, q.edges)
		}
	}
	if q := lloydMax(1); math.Abs(q.values[1]-math.Sqrt(2/math.Pi)) > 1e-12 {
		t.Errorf("one bit: %v", q.values)
	}
	// Max, 1960: 0.4528 and 1.510 are the best four values' halves.
	if q := lloydMax(2); math.Abs(q.values[2]-0.4528) > 5e-5 || math.Abs(q.values[3]-1.510) > 5e-4 {
		t.Errorf("two bits: %v", q.values)
	}
}

// Rotated vectors have the errors of DRIVE and EDEN, one vector and d = 4096: within 2 % of
// 0.571, 0.133, 0.0358 and 0.0096, and with fewer coordinates (d'/K)(1+v) - 1. At this d the
// error of one round has a relative standard deviation of some per cent. A vector with one
// coordinate is the worst for a rotation by signs and one transform.
func TestRotatedErrors(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	const d, rounds = 4096, 40
	one := make([]float64, d)
	one[17] = -3
	for bits, want := range map[int]float64{1: 0.571, 2: 0.133, 3: 0.0358, 4: 0.0096} {
		for name, x := range map[string][]float64{"normal": gaussians(1, d, 1, 2)[0],
			"one coordinate": one} {
			for _, k := range []int{d, d / 4} {
				r, err := newRotated(baseline{N: 1, K: k, D: d, Root: 3}, bits)
				if err != nil {
					t.Fatal(err)
				}
				square := dot(x, x)
				mse, se, bias := measuredRounds(t, r, [][]float64{x}, rounds)
				expected := float64(d)/float64(k)*(1+want) - 1
				if math.Abs(mse/square-expected) > 0.02*expected+4*se/square {
					t.Errorf("%d bits, %s, k = %d: vNMSE %.4g ± %.1g, want %.4g", bits, name, k, mse/square,
						se/square, expected)
				}
				if got := r.MSE(square); math.Abs(got/square-expected) > 0.01*expected {
					t.Errorf("%d bits, k = %d: predicted %g, want %g", bits, k, got/square, expected)
				}
				if bias/square > 2*expected/rounds {
					t.Errorf("%d bits, %s, k = %d: bias² %g, expected %g", bits, name, k, bias/square,
						expected/rounds)
				}
			}
		}
	}
}

// Rounding keeps the mean, and its error is that of MSE, to 6 %: for little correlation, much, one
// bit and more, at nk < d.
func TestRounded(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	const n, k, d = 10, 30, 512
	for _, bits := range []int{1, 2, 4, 8} {
		for _, rho := range []float64{0, 0.9} {
			xs := gaussians(n, d, rho, 5)
			codec, err := NewCodec(Config{N: n, K: k, D: d, Ensemble: SRHT, T: Transform{Rho: rho},
				Root: 11})
			if err != nil {
				t.Fatal(err)
			}
			r, err := newRounded(codec, bits)
			if err != nil {
				t.Fatal(err)
			}
			want, err := r.MSE(context.Background(), rho*(n-1), n)
			if err != nil {
				t.Fatal(err)
			}
			rounds := often(40, 80)
			mse, se, bias := measuredRounds(t, r, xs, rounds)
			if math.Abs(mse-want) > 0.06*want+4*se {
				t.Errorf("%d bits, ρ* = %g: MSE %g ± %g, predicted %g", bits, rho, mse, se, want)
			}
			if bias > 1.5*mse/float64(rounds) {
				t.Errorf("%d bits, ρ* = %g: bias² %g, expected %g", bits, rho, bias, mse/float64(rounds))
			}
		}
	}
}

// Sixteen bits are nearly the numbers themselves; a zero vector is 0; a vector that is one
// number in every row is on the grid.
func TestRoundedEnds(t *testing.T) {
	codec, err := NewCodec(Config{N: 1, K: 4, D: 4, Ensemble: RowSelect})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bits int
		x    []float64
		off  float64
	}{{16, []float64{1, -0.3, 0.7, 1e-9}, 1e-4}, {1, []float64{2, -2, 2, 2}, 0},
		{3, []float64{0, 0, 0, 0}, 0}, {2, []float64{1e-45, 0, 0, 0}, 2e-45}} {
		r, err := newRounded(codec, c.bits)
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.Encode(3, 1, c.x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(context.Background(), r, 3, map[uint64][]byte{1: m})
		if err != nil {
			t.Fatal(err)
		}
		for j := range got {
			if !(math.Abs(got[j]-c.x[j]) <= c.off) {
				t.Errorf("%d bits of %v: %v", c.bits, c.x, got)
			}
		}
		if want := wire.Size + 2 + 4 + (4*c.bits+7)/8; len(m) != want {
			t.Errorf("%d bits: %d bytes, want %d", c.bits, len(m), want)
		}
	}
}

// compressors are all of this file, for vectors of length 12 and two clients.
func compressors(t testing.TB) map[string]Compressor {
	t.Helper()
	must := func(c Compressor, err error) Compressor {
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	b := baseline{N: 2, K: 3, D: 12, Root: 9}
	codec, err := NewCodec(Config{N: 2, K: 3, D: 12, Ensemble: SRHT, T: Transform{Rho: 0.5}, Root: 9})
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWangni(b)
	out := map[string]Compressor{"Wangni": must(w, err)}
	i, err := newInduced(b, 1)
	out["Induced"] = must(i, err)
	r, err := newRounded(codec, 3)
	out["Rounded"] = must(r, err)
	e, err := newRotated(baseline{N: 2, K: 16, D: 12, Root: 9}, 2)
	out["Rotated"] = must(e, err)
	e, err = newRotated(b, 1)
	out["Rotated, some"] = must(e, err)
	return out
}

// Every message is decoded to the same bits whatever the order, and every damage is an
// error or another message: never a panic, nothing that is not a number.
func TestBaselinesRefuse(t *testing.T) {
	ctx := context.Background()
	x := [][]float64{{1, -2, 3, 0, 0, 5, 0.5, 0, 0, -1, 0, 7}, {0, 1, 0, 0, 2, 2, 0, 0, 9, 0, 0, -3}}
	for name, c := range compressors(t) {
		var m [2][]byte
		for i := range x {
			var err error
			if m[i], err = c.Encode(4, uint64(i), x[i]); err != nil {
				t.Fatal(err)
			}
		}
		first := c.NewDecoder(4)
		if _, err := first.Mean(ctx); err == nil {
			t.Errorf("%s: the mean of nothing", name)
		}
		second := c.NewDecoder(4)
		for _, i := range []uint64{0, 1} {
			if err := first.Add(i, m[i]); err != nil {
				t.Fatal(err)
			}
			if err := second.Add(1-i, m[1-i]); err != nil {
				t.Fatal(err)
			}
		}
		a, err := first.Mean(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b, err := second.Mean(ctx)
		if err != nil || !slices.Equal(a, b) {
			t.Errorf("%s: another order gives %v instead of %v, %v", name, b, a, err)
		}
		for what, add := range map[string]func(Decoder) error{
			"twice":        func(d Decoder) error { return d.Add(0, m[0]) },
			"one more":     func(d Decoder) error { n, _ := c.Encode(4, 2, x[0]); return d.Add(2, n) },
			"other client": func(d Decoder) error { return d.Add(1, m[0]) },
			"cut": func(d Decoder) (err error) {
				for n := range m[1] {
					if err = d.Add(1, m[1][:n]); !errors.Is(err, wire.ErrMessage) {
						return fmt.Errorf("of %d bytes: %w", n, err)
					}
				}
				return err
			},
			"longer": func(d Decoder) error { return d.Add(1, append(slices.Clone(m[1]), 0)) },
			"2⁶⁰ values": func(d Decoder) error {
				n := slices.Clone(m[1])
				n[39] = 0x10
				return d.Add(1, n)
			},
			"empty":         func(d Decoder) error { return d.Add(1, nil) },
			"other round":   func(d Decoder) error { n, _ := c.Encode(5, 1, x[1]); return d.Add(1, n) },
			"a foreign one": func(d Decoder) error { return d.Add(1, bytes.Repeat([]byte{0xff}, 200)) },
		} {
			err := add(first)
			if what != "twice" && what != "one more" {
				fresh := c.NewDecoder(4)
				if err := fresh.Add(0, m[0]); err != nil {
					t.Fatal(err)
				}
				err = add(fresh)
			}
			if !errors.Is(err, wire.ErrMessage) || !strings.Contains(err.Error(), "client") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		for _, bad := range [][]float64{x[0][:11], {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, math.NaN()},
			{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, math.Inf(1)},
			{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, math.MaxFloat64, math.MaxFloat64}} {
			if _, err := c.Encode(4, 0, bad); err == nil {
				t.Errorf("%s: %v accepted", name, bad)
			}
		}
		zero, err := c.Encode(4, 0, make([]float64, 12))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(ctx, c, 4, map[uint64][]byte{0: zero}); err != nil ||
			slices.ContainsFunc(got, func(v float64) bool { return v != 0 }) {
			t.Errorf("%s: zeros became %v, %v", name, got, err)
		}
	}
	b := baseline{N: 2, K: 3, D: 12}
	for what, err := range map[string]error{
		"k = 0":           second(newWangni(baseline{N: 2, D: 12})),
		"k > d":           second(newWangni(baseline{N: 2, K: 13, D: 12})),
		"n = 0":           second(newInduced(baseline{K: 3, D: 12}, 1)),
		"top = k":         second(newInduced(b, 3)),
		"top = -1":        second(newInduced(b, -1)),
		"0 bits":          second(newRotated(b, 0)),
		"5 bits":          second(newRotated(b, 5)),
		"k > d', Rotated": second(newRotated(baseline{N: 2, K: 17, D: 12}, 1)),
		"17 bits":         second(newRounded(&Codec{}, 17)),
	} {
		if err == nil {
			t.Errorf("%s accepted", what)
		}
	}
}

// Sums of floats depend on the order of their terms; the mean does not depend on who came first.
func TestAveragesIgnoreTheOrder(t *testing.T) {
	const n = 9
	w, err := newWangni(baseline{N: n, K: 5, D: 40, Root: 2})
	if err != nil {
		t.Fatal(err)
	}
	xs := gaussians(n, 40, 0.3, 8)
	mean := func(first int) []float64 {
		d := w.NewDecoder(0)
		for i := range n {
			client := (first + 4*i) % n
			m, err := w.Encode(0, uint64(client), xs[client])
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Add(uint64(client), m); err != nil {
				t.Fatal(err)
			}
		}
		return must.Get(d.Mean(context.Background()))(t)
	}
	want := mean(0)
	for first := range 20 { // maps are ranged over in random order
		if got := mean(first); !slices.Equal(got, want) {
			t.Fatalf("order %d: %v, want %v", first, got, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Damaged bits never crash a decoder, and what it takes has finite numbers.
func FuzzBaselineMessages(f *testing.F) {
	all := compressors(f)
	x := []float64{1, -2, 3, 0, 0, 5, 0.5, 0, 0, -1, 0, 7}
	for _, c := range all {
		m, err := c.Encode(4, 1, x)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, m []byte) {
		for name, c := range all {
			d := c.NewDecoder(4)
			if d.Add(1, m) != nil {
				continue
			}
			got, err := d.Mean(context.Background())
			if err == nil && (len(got) != 12 || slices.ContainsFunc(got, func(v float64) bool {
				return math.IsNaN(v) || math.IsInf(v, 0)
			})) {
				t.Errorf("%s: %v", name, got)
			}
		}
	})
}

// Numbers of a few bits return, and the indices of a message ascend.
func TestBitsReturn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 32).Draw(t, "width")
		numbers := rapid.SliceOf(rapid.IntRange(0, 1<<width-1)).Draw(t, "numbers")
		b := append(appendBits(nil, width, numbers), 0xab)
		if len(b) != bitBytes(len(numbers), width)+1 {
			t.Fatalf("%d bytes", len(b))
		}
		got, rest, err := takeBits(b, width, len(numbers))
		if err != nil || !slices.Equal(got, numbers) || len(rest) != 1 {
			t.Fatalf("%v became %v, %d left, %v", numbers, got, len(rest), err)
		}
	})
	for _, bad := range [][]int{{3, 3}, {4, 2}, {12}, {1, 2, 15}} {
		if _, _, err := takeIndices(appendBits(nil, 4, bad), 12, len(bad)); err == nil {
			t.Errorf("coordinates %v of 12 accepted", bad)
		}
	}
	if _, _, err := takeBits([]byte{0xf0}, 4, 1); err == nil {
		t.Error("bits behind the last number accepted")
	}
	if got, _, err := takeIndices(appendBits(nil, indexBits(1), []int{0}), 1, 1); err != nil ||
		!slices.Equal(got, []int{0}) {
		t.Errorf("d = 1: %v, %v", got, err)
	}
}
