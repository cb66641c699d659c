package geometry

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
)

// Polytope is a Set with vertices that can be named one by one.
type Polytope interface {
	Set
	// Vertices returns the number of vertices, at most MaxVertices.
	Vertices() int
	// Vertex returns vertex i, from 0, by its coordinates that are not 0 and their values,
	// neither to be changed. Coordinates ascend.
	Vertex(i int) (coordinates []int32, values []float64)
}

// maxVertices is the largest number of vertices of a Polytope, 2²⁵: each has a score in memory.
const maxVertices = 1 << 25

// maxListed is the largest count of numbers in a polytope's own list of vertices.
const maxListed = 1 << 26

// checkVertices refuses more vertices than MaxVertices.
func checkVertices(n int) error {
	if n < 1 || n > maxVertices {
		return &check.Error{Name: "number of vertices", Value: n,
			Rule: fmt.Sprintf("between 1 and %d: each has a score of its own", maxVertices)}
	}
	return nil
}

// axes is a polytope whose vertices lie on the axes, at radius, and if signed also at
// -radius.
type axes struct {
	dim    int
	radius float64
	signed bool
}

func (a axes) check() error {
	if err := checkSize(a.dim, a.radius); err != nil {
		return err
	}
	return checkVertices(a.Vertices())
}

// OnAxes is a Polytope whose vertex i is radius·e_i, and whose vertex dim+i, if it is
// signed, -radius·e_i.
type OnAxes interface {
	Polytope
	Radius() float64
	Signed() bool
}

var _, _ OnAxes = L1Ball{}, Simplex{}

// Name returns "l1 ball" or "simplex", the radius and the dimension.
func (a axes) Name() string {
	kind := "simplex"
	if a.signed {
		kind = "l1 ball"
	}
	return fmt.Sprintf("%s of %v in %d", kind, a.radius, a.dim)
}

// Dim returns the dimension.
func (a axes) Dim() int { return a.dim }

// Norm returns 1.
func (a axes) Norm() float64 { return 1 }

// Radius returns the distance of the vertices from 0.
func (a axes) Radius() float64 { return a.radius }

// Signed reports whether there are vertices in both directions of each axis.
func (a axes) Signed() bool { return a.signed }

// Diameter returns 2·radius, 0 for a simplex of one point.
func (a axes) Diameter() float64 {
	if a.Vertices() == 1 {
		return 0
	}
	return 2 * a.radius
}

// Vertices returns 2·Dim, or Dim where there is one direction.
func (a axes) Vertices() int {
	if a.signed {
		return 2 * a.dim
	}
	return a.dim
}

// Vertex returns ±radius·e_i.
func (a axes) Vertex(i int) ([]int32, []float64) {
	if i < a.dim {
		return []int32{int32(i)}, []float64{a.radius}
	}
	return []int32{int32(i - a.dim)}, []float64{-a.radius}
}

// Minimize sets v to the first vertex where ⟨v, g⟩ is least.
func (a axes) Minimize(v, g []float64) {
	best, least := 0, math.Inf(1)
	for i := range a.Vertices() {
		x := g[i%a.dim]
		if i >= a.dim {
			x = -x
		}
		if x < least {
			best, least = i, x
		}
	}
	clear(v)
	coordinates, values := a.Vertex(best)
	v[coordinates[0]] = values[0]
}

// Hull is the convex hull of a list of points. Make it with NewHull.
type Hull struct {
	dim, count  int
	p, diameter float64
	coordinates [][]int32
	values      [][]float64
	digest      [32]byte
}

// NewHull returns the hull of points of one dimension, measured in ‖·‖_p, p in [1,2]. They
// are copied. The diameter is the largest distance of two where the list is short, and
// otherwise at most twice too large: twice the largest distance from the first.
func NewHull(p float64, points [][]float64) (*Hull, error) {
	if err := checkNorm(p); err != nil {
		return nil, err
	}
	if err := checkVertices(len(points)); err != nil {
		return nil, err
	}
	h := &Hull{dim: len(points[0]), count: len(points), p: p}
	if err := checkSize(h.dim, 1); err != nil {
		return nil, err
	}
	if h.dim > maxListed/len(points) {
		return nil, &check.Error{Name: "number of vertices", Value: len(points),
			Rule: fmt.Sprintf("at most %d in dimension %d", maxListed/h.dim, h.dim)}
	}
	sum := sha256.New()
	for i, point := range points {
		if len(point) != h.dim {
			return nil, &check.Error{Name: fmt.Sprintf("dimension of vertex %d", i+1), Value: len(point),
				Rule: fmt.Sprintf("the first one's, %d", h.dim)}
		}
		var at []int32
		var values []float64
		for j, x := range point {
			if !(math.Abs(x) <= 1e50) {
				return nil, &check.Error{Name: fmt.Sprintf("vertex %d, coordinate %d", i+1, j+1), Value: x,
					Rule: "at most 1e+50 in size"}
			}
			if x != 0 {
				at, values = append(at, int32(j)), append(values, x)
			}
			_ = binary.Write(sum, binary.LittleEndian, x)
		}
		h.coordinates, h.values = append(h.coordinates, at), append(h.values, values)
	}
	sum.Sum(h.digest[:0])
	h.diameter = diameter(points, p) * (1 + normSlack(h.dim))
	return h, nil
}

// pairsCost is up to how many operations the distances of all pairs are worked out.
const pairsCost = 1 << 28

func diameter(points [][]float64, p float64) float64 {
	n, d := len(points), len(points[0])
	firsts, factor := 1, 2.0
	if n <= pairsCost/d/n {
		firsts, factor = n, 1
	}
	widest, difference := 0.0, make([]float64, d)
	for i := range firsts {
		for _, other := range points[i+1:] {
			floats.SubTo(difference, points[i], other)
			widest = max(widest, Norm(difference, p))
		}
	}
	return factor * widest
}

// Name returns the number of points, p and a hash of the points.
func (h *Hull) Name() string {
	return fmt.Sprintf("hull of %d points in %d, l%v, %x", h.count, h.dim, h.p, h.digest[:8])
}

// Dim returns the dimension.
func (h *Hull) Dim() int { return h.dim }

// Norm returns p.
func (h *Hull) Norm() float64 { return h.p }

// Diameter returns the diameter in ‖·‖_p.
func (h *Hull) Diameter() float64 { return h.diameter }

// Vertices returns the number of points.
func (h *Hull) Vertices() int { return h.count }

// Vertex returns point i.
func (h *Hull) Vertex(i int) ([]int32, []float64) { return h.coordinates[i], h.values[i] }

// Minimize sets v to the first point where ⟨v, g⟩ is least.
func (h *Hull) Minimize(v, g []float64) {
	best, least := 0, math.Inf(1)
	for i := range h.count {
		if s := SparseDot(h.coordinates[i], h.values[i], g); s < least {
			best, least = i, s
		}
	}
	clear(v)
	for k, j := range h.coordinates[best] {
		v[j] = h.values[best][k]
	}
}

// SparseDot returns ⟨v, g⟩ for a v given by its coordinates that are not 0.
func SparseDot(coordinates []int32, values, g []float64) float64 {
	s := 0.0
	for k, j := range coordinates {
		s += values[k] * g[j]
	}
	return s
}
