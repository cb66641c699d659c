package vec

import "golang.org/x/sys/cpu"

//go:noescape
func productsAVX(z *[Quad]float64, rows *[Quad][]float32, w *float64, n int)

//go:noescape
func addAVX(sum *float64, rows *[Quad][]float32, by *[Quad]float64, n int)

//go:noescape
func expsAVX(x *[Quad]float64)

// Products sets z to the inner products of four rows with w, whose length is above 0 and a multiple of Lanes.
func Products(z *[Quad]float64, rows *[Quad][]float32, w []float64) {
	if !cpu.X86.HasAVX2 || !within(rows, len(w)) {
		eachProduct(z, rows, w)
		return
	}
	productsAVX(z, rows, &w[0], len(w))
}

// AddProducts adds to sum the multiples of four rows, one after the other. The length of sum is above 0 and a multiple of
// Lanes.
func AddProducts(sum []float64, rows *[Quad][]float32, by *[Quad]float64) {
	if !cpu.X86.HasAVX2 || !within(rows, len(sum)) {
		addEach(sum, rows, by)
		return
	}
	addAVX(&sum[0], rows, by, len(sum))
}

func exps(x *[Quad]float64) {
	if !cpu.X86.HasAVX2 {
		eachExp(x)
		return
	}
	expsAVX(x)
}

// within reports whether n columns in whole lanes are of every row: no other place is read.
func within(rows *[Quad][]float32, n int) bool {
	return n > 0 && n%Lanes == 0 && min(len(rows[0]), len(rows[1]), len(rows[2]), len(rows[3])) >= n
}
