package geometry

import (
	"fmt"
	"math"

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

// checkVertices refuses more vertices than MaxVertices.
func checkVertices(n int) error {
	if n < 1 || n > maxVertices {
		return check.Wantf("number of vertices", n, "between 1 and %d: each has a score of its own",
			maxVertices)
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

// SparseDot returns ⟨v, g⟩ for a v given by its coordinates that are not 0.
func SparseDot(coordinates []int32, values, g []float64) float64 {
	s := 0.0
	for k, j := range coordinates {
		s += values[k] * g[j]
	}
	return s
}
