package datasets

import (
	"math"
	"math/rand/v2"

	"github.com/darrm/darrm/learn/data"
)

// Standin generates a stand-in for the data set from a seed.
//
//	mnist-69     D = m_D + noise, P = m_P + noise, d = 784: with the images' ½‖m_D‖² =
//	             26.61, ½‖m_D-m_P‖² = 5.249, ⟨m_P-m_D, m_P⟩ = 0 and mean ½‖q-m_D‖² =
//	             22.02, on which alone the objective depends
//	cifar-10     3×32×32 pixels of smooth random fields, one field for each of ten
//	             classes, the response; P has classes 0 to 3 only
//	crime        124 features driven by ten factors, a linear response, 2×159 rows; P's
//	             rows are multiplied by I + N(0,1)
//	compas       11 normal features, shifted in P; one logistic model; positive rates 39 %
//	             and 52 %
//	credit-card  21 such features; 50 % and 5 %; n = 200
func Standin(name string, seed uint64) (Set, error) {
	s := Set{Name: name, Standin: true, Source: "generated stand-in, not the real data"}
	rng := generator(seed)
	var err error
	switch name {
	case MNIST69:
		s.Private, s.Public, err = standinImages(rng)
	case CIFAR10:
		s.Private, s.Public, err = standinCIFAR(rng)
	case Crime:
		s.Private, s.Public, err = standinCrime(rng)
	case COMPAS:
		s.Private, s.Public, err = standinLabels(rng, 11, 2103, 822, 1100) // 39.09 % and 52.31 %
	case CreditCard:
		s.Private, s.Public, err = standinLabels(rng, 21, 200, 100, 10)
	default:
		err = unknown(name)
	}
	if err != nil {
		return Set{}, err
	}
	return s.finish(startGenerator(seed)), nil
}

// standinImages matches the means exactly: the samples' own means are taken out.
func standinImages(rng *rand.Rand) (private, public *data.Records, err error) {
	const n, d = 1000, 784
	direction := func(length float64) []float64 {
		v := make([]float64, d)
		s := 0.0
		for j := range v {
			v[j] = rng.NormFloat64()
			s += v[j] * v[j]
		}
		for j := range v {
			v[j] *= length / math.Sqrt(s)
		}
		return v
	}
	mean := direction(math.Sqrt(2 * 26.61))
	gap := direction(1)
	// Turn the gap so that ⟨m_P-m_D, m_P⟩ = 0: nines have less ink than sixes, so the way
	// from 0 to m_P does not pass nearer to m_D than it ends.
	along := 0.0
	for j := range gap {
		along += gap[j] * mean[j]
	}
	const square = 2 * 5.249 // ‖m_P-m_D‖²
	rest := math.Sqrt((square - square*square/(2*26.61)) / (1 - along*along/(2*26.61)))
	for j := range gap {
		across := gap[j] - along*mean[j]/(2*26.61)
		gap[j] = rest*across - square*mean[j]/(2*26.61)
	}
	std := math.Sqrt(2 * 22.02 / d)
	return halves(func(part int) (*data.Records, error) {
		x := make([]float64, n*d)
		for j := range d {
			own := 0.0
			for i := range n {
				x[i*d+j] = std * rng.NormFloat64()
				own += x[i*d+j] / n
			}
			for i := range n {
				x[i*d+j] += mean[j] + float64(part)*gap[j] - own
			}
		}
		return data.NewRecords(n, d, x, nil)
	})
}

func standinCIFAR(rng *rand.Rand) (private, public *data.Records, err error) {
	const side, channels, classes, n = 32, 3, 10, 1000
	field := func(cells int, amplitude float64) []float64 {
		grid := make([]float64, (cells+1)*(cells+1))
		for i := range grid {
			grid[i] = amplitude * rng.NormFloat64()
		}
		out := make([]float64, side*side)
		for r := range side {
			for c := range side {
				y, x := float64(r)*float64(cells)/side, float64(c)*float64(cells)/side
				i, j := int(y), int(x)
				fy, fx := y-float64(i), x-float64(j)
				at := func(i, j int) float64 { return grid[i*(cells+1)+j] }
				out[r*side+c] = (1-fy)*((1-fx)*at(i, j)+fx*at(i, j+1)) + fy*((1-fx)*at(i+1, j)+fx*at(i+1, j+1))
			}
		}
		return out
	}
	var class [classes][channels][]float64
	for k := range class {
		for c := range class[k] {
			class[k][c] = field(4, 0.08)
		}
	}
	return halves(func(part int) (*data.Records, error) {
		x := make([]float64, 0, n*channels*side*side)
		y := make([]float64, n)
		for i := range n {
			k := i % []int{classes, 4}[part]
			y[i] = float64(k)
			brightness := 0.47 + 0.12*rng.NormFloat64()
			for c := range channels {
				image := field(6, 0.18)
				for j := range image {
					x = append(x, clipToUnit(brightness+class[k][c][j]+image[j]+0.03*rng.NormFloat64()))
				}
			}
		}
		return data.NewRecords(n, channels*side*side, x, y)
	})
}

// clipToUnit clips to [0,1].
func clipToUnit(x float64) float64 { return max(0, min(1, x)) }

func standinCrime(rng *rand.Rand) (private, public *data.Records, err error) {
	const n, d, factors = 159, 124, 10
	base, w := make([]float64, d), make([]float64, d)
	load := make([]float64, d*factors)
	for j := range d {
		base[j] = 0.2 + 0.4*rng.Float64()
		w[j] = 0.1 * rng.NormFloat64()
		for l := range factors {
			load[j*factors+l] = 0.08 * rng.NormFloat64()
		}
	}
	x, y := make([]float64, 2*n*d), make([]float64, 2*n)
	for i := range 2 * n {
		var z [factors]float64
		for l := range z {
			z[l] = rng.NormFloat64()
		}
		y[i] = 0.35 + 0.05*rng.NormFloat64()
		for j := range d {
			v := base[j] + 0.1*rng.NormFloat64()
			for l := range z {
				v += load[j*factors+l] * z[l]
			}
			x[i*d+j] = clipToUnit(v)
			y[i] += w[j] * (x[i*d+j] - base[j])
		}
		y[i] = clipToUnit(y[i])
	}
	return inHalves(rng, n, d, x, y)
}

// inHalves makes the first n records private, and the others public, multiplied.
func inHalves(rng *rand.Rand, n, d int, x, y []float64) (private, public *data.Records, err error) {
	return halves(func(part int) (*data.Records, error) {
		if part == 1 {
			return data.NewRecords(n, d, rotate(rng, x[n*d:], d), y[n:])
		}
		return data.NewRecords(n, d, x[:n*d:n*d], y[:n:n])
	})
}

// rotate multiplies rows by I + N(0,1)^{d×d}, which is neither a rotation nor small: it
// makes norms about √(1+d) times as long.
func rotate(rng *rand.Rand, x []float64, d int) []float64 {
	r := make([]float64, d*d)
	for i := range r {
		r[i] = rng.NormFloat64()
		if i%(d+1) == 0 {
			r[i]++
		}
	}
	out := make([]float64, len(x))
	for i := 0; i < len(x); i += d {
		for k := range d {
			for j := range d {
				out[i+j] += x[i+k] * r[k*d+j]
			}
		}
	}
	return out
}

func standinLabels(rng *rand.Rand, d, n, ones,
	publicOnes int) (private, public *data.Records, err error) {
	w, shift := make([]float64, d), make([]float64, d)
	for j := range d {
		w[j], shift[j] = 0.6*rng.NormFloat64(), 0.3*rng.NormFloat64()
	}
	return halves(func(part int) (*data.Records, error) {
		var x, y []float64
		ones := []int{ones, publicOnes}[part]
		want := [2]int{n - ones, ones}
		row := make([]float64, d)
		for len(y) < n {
			z := 0.0
			for j := range row {
				row[j] = rng.NormFloat64() + float64(part)*shift[j]
				z += w[j] * row[j]
			}
			label := 0
			if rng.Float64() < 1/(1+math.Exp(-z)) {
				label = 1
			}
			if want[label] == 0 {
				continue // enough of these
			}
			want[label]--
			x, y = append(x, row...), append(y, float64(label))
		}
		return data.NewRecords(n, d, x, y)
	})
}
