package randomiser

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/sketch/stream"
)

// PrivUnit is the mechanism of the spherical cap, in few bits. PrivUnit itself (Bhowmick et al.
// 2018; with the cap that makes the error least, Asi, Feldman and Talwar 2022) draws a direction of
// the cap around u = x/‖x‖ with a large probability, and one outside it otherwise. Here the
// directions are the all = 2^bits vectors ±v_i that a public seed names, and the cap is the `near`
// of them with the largest inner products: each is sent with probability threshold/(2⁶⁴·near), each
// other one with rest/(2⁶⁴·(all-near)). As all grows this is PrivUnit with a cap of the share
// near/all of the sphere; with all = 2 it is OneBit. Such codebooks are rotationally symmetric,
// which makes the mean of a report a multiple of u (Isik, Chen, Özgür, Weissman and No, 2023).
//
// Privacy: given the seed, always `near` of `all` values are favoured, whatever x and however
// inner products are rounded, so the ratio of any two probabilities is at most that of the two
// above, whose logarithm is Epsilon. With d floats on the wire this would not hold:
// the low bits of a point on a cap around u tell of u.
//
// With a projection, u is first multiplied by a k × d matrix of normal numbers from the seed, and
// the codebook is one of R^k (Asi, Feldman, Nelson, Nguyen and Talwar, 2023). Lengths and
// directions of normal vectors are independent, so that is unbiased as well.
//
// Through a shuffler it is priced as any ε₀-private report (amplification.Round without OneBit),
// which hides less than one bit is proved to. At equal central cost OneBit has the smaller noise up
// to ε₀ = 1.6 or so (by 16 % of its square at 0.6), and PrivUnit above (by 2.8 times at 4).
//
// A message is a seed and an index: 9 bytes for up to 8 bits, what OneBit takes. Cost of a message:
// d·all/2 normal numbers, or k·(d + all/2) with a projection. To add one takes d, or k·d.
type PrivUnit struct {
	d, inner  int // the codebook's dimension: d, or k
	projected bool
	epsilon   float64
	pick      choice
	factor    float64 // of Wᵀv, v of length 1, at C = 1
	unit      float64 // Scale at C = 1
}

var _ Randomizer = (*PrivUnit)(nil)

// MaxBits is the most bits of an index.
const MaxBits = 8

// NewPrivUnit returns the randomiser of d dimensions and ε₀ at most epsilon, with an index of 1 to
// 8 bits and the cap that makes Scale least. projection is k, 0 for none.
func NewPrivUnit(d int, epsilon float64, bits, projection int) (*PrivUnit, error) {
	if err := cmp.Or(checkShape(d, epsilon), check.Whole("bits of the index", bits, 1, MaxBits),
		check.Whole("projection", projection, 0, d)); err != nil {
		return nil, err
	}
	r := &PrivUnit{d: d, inner: d}
	if projection > 0 {
		r.inner, r.projected = projection, true
	}
	pairs := 1 << (bits - 1)
	best := 0.0
	for m := 1; m <= pairs; m++ {
		pick := newChoice(uint64(m), uint64(2*pairs), epsilon)
		sum, squares := favoured(r.inner, pairs, m)
		// The inner products of all values add up to 0, so those of the others to -sum.
		gain := sum * pick.contrast()
		if gain <= best {
			break // it has one maximum
		}
		best = gain
		r.pick, r.epsilon = pick, min(epsilon, pick.epsilon())
		r.factor, r.unit = 1/gain, 1/gain
		if r.projected {
			length := math.Sqrt(2/math.Pi) / meanAbs(r.inner) // E of the norm of k normals
			r.factor /= length
			// ‖Wᵀv‖² is (d-1) from across u, and ⟨Wu,v⟩² = ‖Wu‖²·⟨v,Wu/‖Wu‖⟩² along it.
			// The squares of all inner products add up to all/k.
			other := float64(pick.rest()) * 0x1p-64 / float64(pick.all-pick.near)
			along := float64(r.inner)*squares*pick.contrast() + float64(pick.all)*other
			r.unit = r.factor * math.Sqrt(float64(d-1)+along)
		}
	}
	return r, nil
}

// Dim returns d.
func (r *PrivUnit) Dim() int { return handle.Made(r).d }

// Epsilon returns ε₀ = ln(threshold·(all-near)/(rest·near)), rounded up.
func (r *PrivUnit) Epsilon() float64 {
	r = handle.Made(r)
	return promise(r.d, r.epsilon)
}

// Size returns 9.
func (r *PrivUnit) Size() int { return oneBitSize }

// Scale returns √E‖report‖². Without a projection every report has this norm.
func (r *PrivUnit) Scale(bound float64) float64 { return bound * handle.Made(r).unit }

// Append writes the seed and the index of a value, the lowest bit its sign. See [Randomizer].
func (r *PrivUnit) Append(dst []byte, x []float64, bound float64, coins Coins) ([]byte, error) {
	r = handle.Made(r)
	if err := made(r.d, coins); err != nil {
		return dst, err
	}
	n, err := relativeNorm(x, r.d, bound)
	if err != nil {
		return dst, err
	}
	seed := coins.Uint64()
	buffer := borrow(r.d + r.inner)
	defer scratch.Put(buffer)
	g, y := (*buffer)[:r.d], (*buffer)[r.d:]
	if r.projected {
		for i := range y {
			normals(g, seed, stream.Projection, uint64(i))
			y[i] = floats.Dot(g, x)
		}
	} else {
		copy(y, x)
	}
	var order [1 << MaxBits]byte
	r.rank(&order, g[:r.inner], y, seed)
	turn := turned(n, coins)
	near := r.pick.fromNear(coins)
	var i byte
	if near {
		i = order[below(coins, r.pick.near)]
	} else {
		i = order[r.pick.near+below(coins, r.pick.all-r.pick.near)]
	}
	if turn {
		i ^= 1
	}
	return append(binary.LittleEndian.AppendUint64(dst, seed), i), nil
}

// rank orders the values by their inner product with y, the largest first, by index among equals:
// pairs by |⟨v_i,y⟩|, the positive one of each first and the negative one last.
func (r *PrivUnit) rank(order *[1 << MaxBits]byte, g, y []float64, seed uint64) {
	var size [1 << (MaxBits - 1)]float64
	pairs := int(r.pick.all / 2)
	for p := range pairs {
		normals(g, seed, stream.Direction, uint64(p))
		dot := floats.Dot(g, y) / vec.Norm(g)
		i := byte(2 * p)
		if dot < 0 {
			i++
		}
		size[p] = math.Abs(dot)
		j := p // insertion: there are at most 128
		for ; j > 0 && size[order[j-1]>>1] < size[p]; j-- {
			order[j] = order[j-1]
		}
		order[j] = i
	}
	for p := range pairs {
		order[2*pairs-1-p] = order[p] ^ 1
	}
}

// below returns an integer uniform on {0, …, n-1}.
func below(coins Coins, n uint64) uint64 {
	for {
		if u := coins.Uint64(); u >= -n%n { // 2⁶⁴ mod n words are drawn again
			return u % n
		}
	}
}

// Add adds factor·C·v, or factor·C·Wᵀv. See [Randomizer].
func (r *PrivUnit) Add(sum []float64, message []byte, bound float64) error {
	r = handle.Made(r)
	if err := checkSum(sum, r.d, message, oneBitSize, bound); err != nil {
		return err
	}
	i := message[8]
	if uint64(i) >= r.pick.all {
		return fmt.Errorf("the index of a message is %d, but it must be below %d", i, r.pick.all)
	}
	seed := binary.LittleEndian.Uint64(message)
	buffer := borrow(r.d + r.inner)
	defer scratch.Put(buffer)
	g, v := (*buffer)[:r.d], (*buffer)[r.d:]
	normals(v, seed, stream.Direction, uint64(i>>1))
	c := bound * r.factor / vec.Norm(v)
	if i&1 == 1 {
		c = -c
	}
	if !r.projected {
		floats.AddScaled(sum, c, v)
		return nil
	}
	for j, w := range v {
		normals(g, seed, stream.Projection, uint64(j))
		floats.AddScaled(sum, c*w, g)
	}
	return nil
}

// A codebook is n pairs ±v_i of directions drawn uniformly from the sphere of R^d. Of their 2n
// inner products with a unit vector the m largest, m ≤ n, are the m largest |⟨v_i,u⟩|, so by the
// law of order statistics the mean of Σ g(|⟨v_i,u⟩|) over the m favoured is
//
//	n·∫ g(s)·f(s)·Pr[Bin(n-1, 1-F(s)) ≤ m-1] ds
//
// with f, F the law of |⟨v,u⟩|. With s = sin θ, f(s)ds = cos^{d-2}θ dθ/W, smooth for d ≥ 2.

// codebookNodes integrates to about 1e-13: the integrand is smooth and its range cut to where it is
// not 0.
const codebookNodes = 400

// favoured returns the mean of Σ s and of Σ s² over the m favoured of n pairs.
func favoured(d, n, m int) (sum, squares float64) {
	if d == 1 {
		return float64(m), float64(m)
	}
	// |⟨v,u⟩| is above √(80/d) with probability below e^-40, for n ≤ 128 of them as well.
	top := math.Pi / 2
	if s := math.Sqrt(80 / float64(d)); s < 1 {
		top = math.Asin(s)
	}
	half := float64(d-1) / 2
	lb1, _ := math.Lgamma(half)
	lb2, _ := math.Lgamma(half + 0.5)
	weight := 2 / math.Sqrt(math.Pi) * math.Exp(lb2-lb1) // 1/∫cos^{d-2}, over [0, π/2]
	few := func(s float64) float64 {                     // Pr[Bin(n-1, 1-F(s)) ≤ m-1]
		if m == n {
			return 1
		}
		f := mathext.RegIncBeta(0.5, half, min(1, s*s))
		return mathext.RegIncBeta(float64(n-m), float64(m), f)
	}
	at := func(power float64) float64 {
		return float64(n) * weight * quad.Fixed(func(theta float64) float64 {
			s := math.Sin(theta)
			return math.Pow(s, power) * math.Pow(math.Cos(theta), float64(d-2)) * few(s)
		}, 0, top, codebookNodes, quad.Legendre{}, 0)
	}
	return at(1), at(2)
}
