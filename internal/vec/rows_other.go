//go:build !amd64

package vec

// Products sets z to the inner products of four rows with w, whose length is above 0 and a multiple of Lanes.
func Products(z *[Quad]float64, rows *[Quad][]float32, w []float64) { eachProduct(z, rows, w) }

// AddProducts adds to sum the multiples of four rows, one after the other. The length of sum is above 0 and a multiple of
// Lanes.
func AddProducts(sum []float64, rows *[Quad][]float32, by *[Quad]float64) { addEach(sum, rows, by) }

func exps(x *[Quad]float64) { eachExp(x) }
