package geometry

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

func sets(t testing.TB, d int) []Set {
	t.Helper()
	two, err1 := NewLpBall(d, 2, 1.5)
	lp, err2 := NewLpBall(d, 1.3, 0.7)
	ball, err3 := NewL1Ball(d, 2)
	simplex, err4 := NewSimplex(d, 2)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return []Set{two, lp, ball, simplex}
}

func vector(t *rapid.T, d int) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-10, 10), d, d).Draw(t, "v")
}

// The minimum is a point of the set, no other point of it that was found is lower, and no two
// minima are further apart than the diameter, which some two reach.
func TestLinearMinimisation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(2, 5).Draw(t, "d")
		for _, s := range sets(&testing.T{}, d) {
			g, other := vector(t, d), vector(t, d)
			v, w := make([]float64, d), make([]float64, d)
			s.Minimize(v, g)
			s.Minimize(w, other)
			if floats.Dot(v, g) > floats.Dot(w, g)+1e-9 {
				t.Fatalf("%s: %v is not least in direction %v: %v is", s.Name(), v, g, w)
			}
			difference := make([]float64, d)
			floats.SubTo(difference, v, w)
			if far := Norm(difference, s.Norm()); far > s.Diameter()*(1+1e-12) {
				t.Fatalf("%s: %v and %v are %v apart, the diameter is %v", s.Name(), v, w, far, s.Diameter())
			}
			if gap := Gap(s, w, g); gap < -1e-9 {
				t.Fatalf("%s: gap %v", s.Name(), gap)
			}
			// Closed forms: r‖g‖_q below ⟨g, w⟩.
			if b, ok := s.(LpBall); ok {
				if want := floats.Dot(g, w) + b.Radius()*Norm(g, Dual(b.Norm())); math.Abs(Gap(s, w, g)-want) >
					1e-9*(1+want) {
					t.Fatalf("%s: gap %v, by the closed form %v", s.Name(), Gap(s, w, g), want)
				}
				if Norm(v, b.Norm()) > b.Radius()*(1+1e-15) {
					t.Fatalf("%s: the minimum is outside by %g", s.Name(), Norm(v, b.Norm())-b.Radius())
				}
			}
		}
	})
}

// The vertices are as many as is said, all in the set, some two as far apart as the diameter,
// and the best of them is the minimum.
func TestVertices(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, s := range sets(t, 4) {
		p, ok := s.(Polytope)
		if !ok {
			continue
		}
		list := enumerate(p)
		far := 0.0
		for _, v := range list {
			for _, w := range list {
				x := make([]float64, 4)
				floats.SubTo(x, v, w)
				far = max(far, Norm(x, p.Norm()))
			}
		}
		if !(far <= p.Diameter() && far > p.Diameter()*(1-1e-9)) {
			t.Errorf("%s: the diameter is %v, of the vertices %v", p.Name(), p.Diameter(), far)
		}
		for range 50 {
			g, v := make([]float64, 4), make([]float64, 4)
			for j := range g {
				g[j] = rng.NormFloat64()
			}
			p.Minimize(v, g)
			for _, w := range list {
				if floats.Dot(w, g) < floats.Dot(v, g)-1e-12 {
					t.Errorf("%s: %v is below the minimum %v", p.Name(), w, v)
				}
			}
		}
	}
}

func TestSetsRefuse(t *testing.T) {
	for name, f := range map[string]func() error{
		"p":         func() error { _, err := NewLpBall(2, 1, 1); return err },
		"p above":   func() error { _, err := NewLpBall(2, 2.5, 1); return err },
		"radius":    func() error { _, err := NewL1Ball(2, math.Inf(1)); return err },
		"dimension": func() error { _, err := NewSimplex(0, 1); return err },
		"vertices":  func() error { _, err := NewL1Ball(maxVertices, 1); return err },
	} {
		if f() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// Norms agree with their definition, and do not overflow.
func TestNorms(t *testing.T) {
	v := []float64{3, -4, 0, 12}
	for p, want := range map[float64]float64{1: 19, 2: 13, math.Inf(1): 12,
		3: math.Cbrt(27 + 64 + 1728)} {
		if got := Norm(v, p); math.Abs(got-want) > 1e-12 {
			t.Errorf("norm %v = %v, want %v", p, got, want)
		}
	}
	if got := Norm([]float64{1e200, 1e200}, 3); math.Abs(got/1e200-math.Cbrt(2)) > 1e-12 {
		t.Error(got)
	}
	if !math.IsNaN(Norm([]float64{1, math.NaN()}, 2)) {
		t.Error("NaN is lost")
	}
	for _, p := range []float64{1, 1.5, 2, math.Inf(1)} {
		if got := Dual(Dual(p)); math.Abs(got-p) > 1e-15 && got != p {
			t.Errorf("dual of the dual of %v is %v", p, got)
		}
	}
}

// enumerate returns the vertices as a list.
func enumerate(p Polytope) [][]float64 {
	all := make([][]float64, p.Vertices())
	for i := range all {
		all[i] = make([]float64, p.Dim())
		coordinates, values := p.Vertex(i)
		for k, j := range coordinates {
			all[i][j] = values[k]
		}
	}
	return all
}

func TestParseSet(t *testing.T) {
	for text, want := range map[string][2]float64{"l2:3": {2, 6}, "l1:0.5": {1, 1},
		"lp:1.5:2": {1.5, 4}, "simplex:1": {1, 2}} {
		s, err := ParseSet(text, 4)
		if err != nil || s.Norm() != want[0] || math.Abs(s.Diameter()-want[1]) > 1e-12 || s.Dim() != 4 {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "l2", "l2:", "l2:x", "l2:-1", "l2:0", "l2:NaN", "l2:+Inf",
		"lp:1", "lp:1:1", "lp:3:1", "l1:1:1", "ball:1"} {
		if s, err := ParseSet(text, 4); err == nil {
			t.Errorf("%q gives %v", text, s.Name())
		}
	}
}

// A feature 1 more never leaves the bound, nor does the bound exceed what is needed.
func TestWithIntercept(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		q := 1 + 3*rng.Float64()
		if rng.IntN(4) == 0 {
			q = math.Inf(1)
		}
		radius := math.Exp(6*rng.Float64() - 3)
		want := math.Pow(math.Pow(radius, q)+1, 1/q)
		if math.IsInf(q, 1) {
			want = max(radius, 1)
		}
		got := WithIntercept(radius, q)
		if got < want*(1-1e-15) || got > want*(1+1e-10) {
			t.Fatalf("WithIntercept(%v, %v) = %v, want %v", radius, q, got, want)
		}
		if got < Norm([]float64{radius, 1}, q) {
			t.Fatal("below the norm itself")
		}
	}
}
