package vec

// Quad is how many rows Products and AddProducts take at once, and Lanes what the number of their columns is a multiple
// of.
const Quad, Lanes = 4, 8

// eachProduct is Products. Products are rounded before they are added, to eight sums from 0, column j to sum j mod 8,
// and the sums as ((s0+s4)+(s2+s6)) + ((s1+s5)+(s3+s7)): a definition, so that every processor has the same bits.
func eachProduct(z *[Quad]float64, rows *[Quad][]float32, w []float64) {
	for i, row := range rows {
		var s [Lanes]float64
		for j := 0; j < len(w); j += Lanes {
			for l := range s {
				s[l] += float64(float64(row[j+l]) * w[j+l])
			}
		}
		z[i] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
	}
}

// addEach is AddProducts: a row after another.
func addEach(sum []float64, rows *[Quad][]float32, by *[Quad]float64) {
	for i, row := range rows {
		for j := range sum {
			sum[j] += float64(by[i] * float64(row[j]))
		}
	}
}

// eachExp is Exps.
func eachExp(x *[Quad]float64) {
	for q, v := range x {
		x[q] = Exp(v)
	}
}
