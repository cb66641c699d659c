package convex

import "github.com/darrm/darrm/learn/data"

// integers is a dense matrix of rounded features, a record a row. Its products with integers are
// exact in any order and on any machine, which sums of floats are not.
type integers struct {
	d int
	x []int32
}

// Records are dense where denseShare of denseParts of their features are not 0. A dense product
// takes about as long as adding the rows of one record in denseParts.
const (
	denseShare = 1
	denseParts = 4
)

// integers returns the features rounded towards 0.
func (p *frankWolfePlan) integers(rows *data.Sparse) *integers {
	m := &integers{d: p.d, x: make([]int32, p.n*p.d)}
	for i := range p.n {
		columns, values := rows.Row(i)
		row := m.x[i*p.d : (i+1)*p.d]
		for k, j := range columns {
			row[j] = int32(p.feature(values[k]))
		}
	}
	return m
}

// add adds the product of the transposed matrix and a vector to sum. Four rows at once read and
// write each sum once, so that the time is that of reading the matrix.
func (m *integers) add(sum, by []int64) {
	x := m.x
	for ; len(by) >= 4; by, x = by[4:], x[4*m.d:] {
		by0, by1, by2, by3 := by[0], by[1], by[2], by[3]
		if by0|by1|by2|by3 == 0 {
			continue
		}
		x0, x1, x2, x3 := x[:m.d], x[m.d:2*m.d], x[2*m.d:3*m.d], x[3*m.d:4*m.d]
		s := sum[:len(x0)]
		x1, x2, x3 = x1[:len(x0)], x2[:len(x0)], x3[:len(x0)]
		for j, v := range x0 {
			s[j] += by0*int64(v) + by1*int64(x1[j]) + by2*int64(x2[j]) + by3*int64(x3[j])
		}
	}
	for i, b := range by {
		for j, v := range x[i*m.d : (i+1)*m.d] {
			sum[j] += b * int64(v)
		}
	}
}
