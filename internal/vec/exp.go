package vec

import "math"

// The constants of Exp: of FreeBSD's e_exp.c.
const (
	log2e = 1.44269504088896338700e+00
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
	p1    = 1.66666666666666657415e-01
	p2    = -2.77777777770155933842e-03
	p3    = 6.61375632143793436117e-05
	p4    = -1.65339022054652515390e-06
	p5    = 4.13813679705723846039e-08
)

// Exp returns e^x by the rational function of FreeBSD's e_exp.c, below one unit in the last place off. math.Exp has
// other last digits on other processors. Beyond 709 it is e^709: 1/(1+e^x) is 0 to 300 digits.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x > 709:
		x = 709
	case x < -740:
		return 0
	}
	// One rounding an operation: float64() around a product keeps it from being fused with a sum.
	k := math.Trunc(float64(log2e*x) + math.Copysign(0.5, x))
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	t := r * r
	c := p4 + float64(t*p5)
	c = p3 + float64(t*c)
	c = p2 + float64(t*c)
	c = p1 + float64(t*c)
	c = r - float64(t*c)
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	return math.Ldexp(y, int(k))
}

// Exps replaces four numbers by Exp of them.
func Exps(x *[Quad]float64) {
	for _, v := range x {
		if !(v >= -700 && v <= 700) { // 2^k has another exponent there
			for q, v := range x {
				x[q] = Exp(v)
			}
			return
		}
	}
	exps(x)
}
