package poissonbinom

// smallestNormal is the smallest positive normal float64.
const smallestNormal = 0x1p-1022

// window is a pmf under construction: a[lo..hi] are its non-zero elements, all
// others are zero.
//
// The pmf of a Poisson binomial law is log-concave, so its small elements lie at
// the two ends. Subnormal ones there are set to zero and left out of
// further work: arithmetic on subnormal numbers takes a hundred cycles each, and
// with n = 10,000 most elements underflow anyway.
type window struct {
	a      []float64
	lo, hi int
}

// newWindow makes the law of the constant 0 in a, which has length ≥ 1.
func newWindow(a []float64) window {
	clear(a)
	a[0] = 1
	return window{a: a}
}

// step adds one Bernoulli(p) variable, q = 1-p.
func (w *window) step(q, p float64) {
	w.hi++
	multiplyStep(w.a[w.lo:w.hi+1], q, p)
	w.trim()
}

// trim moves lo and hi inwards past elements that are zero or subnormal.
func (w *window) trim() {
	for w.lo < w.hi && w.a[w.lo] < smallestNormal {
		w.a[w.lo] = 0
		w.lo++
	}
	for w.lo < w.hi && w.a[w.hi] < smallestNormal {
		w.a[w.hi] = 0
		w.hi--
	}
}

// multiplyStep multiplies the polynomial with coefficients a[:len(a)-1] by
// q + p·z, in place; the last element of a, whatever it was, becomes the new
// leading coefficient. len(a) must be at least 1.
func multiplyStep(a []float64, q, p float64) {
	prev := 0.0
	in := a[:len(a)-1]
	k := 0
	for ; k < len(in)-3; k += 4 {
		x := in[k : k+4 : k+4]
		x1, x2, x3, x4 := x[0], x[1], x[2], x[3]
		// float64() around each product forbids fusing: the same bits everywhere.
		x[0] = float64(q*x1) + float64(p*prev)
		x[1] = float64(q*x2) + float64(p*x1)
		x[2] = float64(q*x3) + float64(p*x2)
		x[3] = float64(q*x4) + float64(p*x3)
		prev = x4
	}
	for ; k < len(in); k++ {
		x := in[k]
		in[k] = float64(q*x) + float64(p*prev)
		prev = x
	}
	a[len(a)-1] = p * prev
}
