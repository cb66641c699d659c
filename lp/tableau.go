package lp

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// tableau is a program's dictionary for one basis:
//
//	x_B = const + cells·x_N,   c·x = const + reduced·x_N
//
// Variable j < n is column j of the program, n+i is the slack of row i, b_i - A_i·x ≥ 0. N has n
// variables, each on one of its bounds, B those that are left. All is dense: a row of the programs
// of this package has hardly a zero, and what a factorised basis would give, the leaving row, the
// entering column and the edges' lengths, stands here already.
type tableau struct {
	*model
	n         int
	low, high []float64 // of columns; finite where the cost draws the column there
	cost      []float64 // scaled, of columns
	shifts    []float64 // of columns, then of slacks: added to their costs
	basic     []int     // by row of cells
	nonbasic  []int     // by column of cells
	above     []bool    // by column of cells: the variable is on its upper bound
	cells     [][]float64
	edge      []float64 // 1 + Σ cells², by row
	value     []float64 // of the basic variables
	reduced   []float64 // of the nonbasic ones
	pivots    int       // since the cells were computed from the rows
	work      int64     // multiplications with cells, see Solution.Work
}

// spend counts the multiplications of a loop over loops.
func (t *tableau) spend(sizes ...int) {
	product := int64(1)
	for _, n := range sizes {
		product *= int64(n)
	}
	t.work += product
}

// newTableau returns the tableau in which all slacks are basic. Columns are on the bound to which
// the cost draws them, so that it is dual feasible.
func newTableau(m *model, low, high, cost []float64) *tableau {
	n := len(cost)
	t := &tableau{model: m, n: n, low: low, high: high, cost: cost, nonbasic: make([]int, n),
		above: make([]bool, n), reduced: make([]float64, n), shifts: make([]float64, n)}
	for j, c := range cost {
		t.nonbasic[j] = j
		t.above[j] = c < 0 || math.IsInf(low[j], -1)
	}
	return t
}

// bounds returns the least and the largest value of a variable.
func (t *tableau) bounds(v int) (low, high float64) {
	if v < t.n {
		return t.low[v], t.high[v]
	}
	return 0, math.Inf(1)
}

// at returns the value of the nonbasic variable in column q of the cells.
func (t *tableau) at(q int) float64 {
	low, high := t.bounds(t.nonbasic[q])
	if t.above[q] {
		return high
	}
	return low
}

// basis is the factorised part of the basis matrix: the tight rows by the basic columns. It calls
// LAPACK without gonum's package mat, whose many types would be a fiftieth of the page's program.
type basis struct {
	rows, columns []int
	kernel, lu    blas64.General
	swaps         []int // of rows, by lu
}

func matrix(rows, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: make([]float64, rows*columns)}
}

// worstCondition is from where a basis counts as singular.
const worstCondition = 1e15

// factorise returns the basis of t.
func (t *tableau) factorise() (*basis, error) {
	b := &basis{}
	for _, v := range t.nonbasic {
		if v >= t.n {
			b.rows = append(b.rows, v-t.n)
		}
	}
	for _, v := range t.basic {
		if v < t.n {
			b.columns = append(b.columns, v)
		}
	}
	k := len(b.rows)
	if len(b.columns) != k {
		return nil, statusErrorf(Numerical, "simplex: %d tight rows and %d basic columns", k,
			len(b.columns))
	}
	if k == 0 {
		return b, nil
	}
	b.kernel, b.lu, b.swaps = matrix(k, k), matrix(k, k), make([]int, k)
	for r, i := range b.rows {
		for c, j := range b.columns {
			b.kernel.Data[r*k+c] = t.rows[i].coef[j]
		}
	}
	t.spend(k, k, k)
	copy(b.lu.Data, b.kernel.Data)
	norm := lapack64.Lange(lapack.MaxRowSum, b.kernel, nil)
	lapack64.Getrf(b.lu, b.swaps) // where a pivot is 0 the condition is infinite
	c := 1 / lapack64.Gecon(lapack.MaxRowSum, b.lu, norm, make([]float64, 4*k), make([]int, k))
	if !(c < worstCondition) {
		return nil, statusErrorf(Numerical, "simplex: the basis of %d rows has condition %.1g", k, c)
	}
	return b, nil
}

// solve returns the solution of kernel·x = rhs, or of the transposed system, refined once.
func (b *basis) solve(transposed blas.Transpose, rhs []float64) []float64 {
	k := len(rhs)
	if k == 0 {
		return nil
	}
	x, step := matrix(k, 1), matrix(k, 1)
	copy(x.Data, rhs)
	lapack64.Getrs(transposed, b.lu, x, b.swaps)
	blas64.Gemv(transposed, 1, b.kernel, blas64.Vector{N: k, Data: x.Data, Inc: 1}, 0,
		blas64.Vector{N: k, Data: step.Data, Inc: 1})
	floats.SubTo(step.Data, rhs, step.Data) // the residual
	lapack64.Getrs(transposed, b.lu, step, b.swaps)
	floats.Add(x.Data, step.Data)
	return x.Data
}

// point returns all columns' values.
func (t *tableau) point(b *basis) []float64 {
	x := make([]float64, t.n)
	for q, v := range t.nonbasic {
		if v < t.n {
			x[v] = t.at(q)
		}
	}
	rhs := make([]float64, len(b.rows))
	for r, i := range b.rows {
		rhs[r] = t.rows[i].rhs - dot(t.rows[i].coef, x)
	}
	inner := b.solve(blas.NoTrans, rhs)
	for c, j := range b.columns {
		x[j] = inner[c]
	}
	return x
}

// multipliers returns those of all rows for costs.
func (t *tableau) multipliers(b *basis, cost []float64) []float64 {
	rhs := make([]float64, len(b.rows))
	for c, j := range b.columns {
		rhs[c] = -cost[j]
	}
	inner := b.solve(blas.Trans, rhs)
	y := make([]float64, len(t.rows))
	for r, i := range b.rows {
		y[i] = inner[r]
	}
	return y
}

// refresh computes the tableau of the same basis from the rows.
func (t *tableau) refresh() (*basis, error) {
	b, err := t.factorise()
	if err != nil {
		return nil, err
	}
	t.refreshCells(b)
	t.pivots = 0
	t.reprice(b)
	t.revalue(b)
	return b, nil
}

// reprice computes the reduced costs. Slack i is b_i - A_i·x, so that a cost of it is one of x.
func (t *tableau) reprice(b *basis) {
	reduced := append([]float64(nil), t.cost...)
	for j := range reduced {
		reduced[j] += t.shifts[j]
	}
	for i, g := range t.shifts[t.n:] {
		if g != 0 {
			floats.AddScaled(reduced, -g, t.rows[i].coef)
		}
	}
	y := t.multipliers(b, reduced)
	for _, i := range b.rows {
		floats.AddScaled(reduced, y[i], t.rows[i].coef)
	}
	for q, v := range t.nonbasic {
		if v < t.n {
			t.reduced[q] = reduced[v]
		} else {
			t.reduced[q] = y[v-t.n] + t.shifts[v]
		}
	}
}

// revalue computes the values of the basic variables.
func (t *tableau) revalue(b *basis) {
	x := t.point(b)
	for p, v := range t.basic {
		if v < t.n {
			t.value[p] = x[v]
			continue
		}
		t.value[p] = t.rows[v-t.n].rhs - dot(t.rows[v-t.n].coef, x)
	}
}

// wrong returns by how much the reduced cost of column q has the wrong sign, 0 if it is right.
func (t *tableau) wrong(q int) float64 {
	low, high := t.bounds(t.nonbasic[q])
	switch {
	case low == high:
		return 0
	case t.above[q]:
		return max(t.reduced[q], 0)
	default:
		return max(-t.reduced[q], 0)
	}
}

// shift adds to the cost of the nonbasic variable of column q.
func (t *tableau) shift(q int, by float64) {
	t.reduced[q] += by
	t.shifts[t.nonbasic[q]] += by
}

// refreshCells computes all cells: those of the basic columns by the factorised basis, those of
// the slacks by them.
func (t *tableau) refreshCells(b *basis) {
	place := make(map[int]int, len(b.rows)) // of a tight row in b.rows
	for r, i := range b.rows {
		place[i] = r
	}
	if k := len(b.rows); k > 0 {
		inner := matrix(k, t.n)
		for q, v := range t.nonbasic {
			if v >= t.n {
				inner.Data[place[v-t.n]*t.n+q] = -1
				continue
			}
			for r, i := range b.rows {
				inner.Data[r*t.n+q] = -t.rows[i].coef[v]
			}
		}
		t.spend(k, k, t.n)
		lapack64.Getrs(blas.NoTrans, b.lu, inner, b.swaps)
		c := 0
		for p, v := range t.basic {
			if v < t.n {
				copy(t.cells[p], inner.Data[c*t.n:])
				t.edge[p] = 1 + floats.Dot(t.cells[p], t.cells[p])
				c++
			}
		}
	}
	columns := t.basicColumns()
	for p, v := range t.basic {
		if v >= t.n {
			t.slackCells(p, columns)
		}
	}
}

// basicColumns returns the rows of the cells whose variables are columns.
func (t *tableau) basicColumns() (rows []int) {
	for p, v := range t.basic {
		if v < t.n {
			rows = append(rows, p)
		}
	}
	return rows
}

// slackCells computes row p of the cells, a slack's, from those of the basic columns.
func (t *tableau) slackCells(p int, columns []int) {
	row, cells := t.rows[t.basic[p]-t.n].coef, t.cells[p]
	t.spend(len(columns)+1, t.n)
	for q, v := range t.nonbasic {
		cells[q] = 0
		if v < t.n {
			cells[q] = -row[v]
		}
	}
	for _, other := range columns {
		if a := row[t.basic[other]]; a != 0 {
			floats.AddScaled(cells, -a, t.cells[other])
		}
	}
	t.edge[p] = 1 + floats.Dot(cells, cells)
}

// addRows takes up the rows of the model from number first on, with basic slacks.
func (t *tableau) addRows(first int) {
	columns := t.basicColumns()
	for i := first; i < len(t.rows); i++ {
		t.basic = append(t.basic, t.n+i)
		t.cells = append(t.cells, make([]float64, t.n))
		t.edge, t.value, t.shifts = append(t.edge, 1), append(t.value, 0), append(t.shifts, 0)
		t.slackCells(len(t.basic)-1, columns)
	}
}

// deleteRows gives up rows of the model before it deletes them; moved has the new numbers, -1 for
// one that goes. It reports whether the basis lasts: it does unless a row that goes is tight.
func (t *tableau) deleteRows(moved []int) bool {
	for q, v := range t.nonbasic {
		if v < t.n {
			continue
		}
		if moved[v-t.n] < 0 {
			return false
		}
		t.nonbasic[q] = t.n + moved[v-t.n]
	}
	kept := 0
	for p, v := range t.basic {
		if v >= t.n {
			if moved[v-t.n] < 0 {
				continue
			}
			v = t.n + moved[v-t.n]
		}
		t.basic[kept], t.cells[kept], t.edge[kept], t.value[kept] = v, t.cells[p], t.edge[p], t.value[p]
		kept++
	}
	clear(t.cells[kept:])
	t.basic, t.cells, t.edge, t.value = t.basic[:kept], t.cells[:kept], t.edge[:kept], t.value[:kept]
	t.shifts = make([]float64, t.n+kept) // all are 0 between solves
	return true
}

// move changes the nonbasic variable of column q by step.
func (t *tableau) move(q int, step float64) {
	for p, cells := range t.cells {
		t.value[p] += cells[q] * step
	}
}

// flip moves the nonbasic variable of column q to its other bound.
func (t *tableau) flip(q int) {
	before := t.at(q)
	t.above[q] = !t.above[q]
	t.move(q, t.at(q)-before)
}

// exchange makes the variable of row r nonbasic, on its upper bound if above, and that of column q
// basic. Cost: all cells.
func (t *tableau) exchange(r, q int, above bool) {
	low, high := t.bounds(t.basic[r])
	bound := low
	if above {
		bound = high
	}
	pivot := t.cells[r][q]
	entering := t.at(q)
	step := (bound - t.value[r]) / pivot
	t.move(q, step)
	t.value[r] = entering + step

	row := t.cells[r]
	t.spend(2, len(t.cells), t.n)
	floats.Scale(-1/pivot, row)
	row[q] = 1 / pivot
	for p, cells := range t.cells {
		if p == r {
			continue
		}
		if f := cells[q]; f != 0 {
			cells[q] = 0
			floats.AddScaled(cells, f, row)
			t.edge[p] = 1 + floats.Dot(cells, cells)
		}
	}
	t.edge[r] = 1 + floats.Dot(row, row)
	f := t.reduced[q]
	t.reduced[q] = 0
	floats.AddScaled(t.reduced, f, row)
	t.basic[r], t.nonbasic[q] = t.nonbasic[q], t.basic[r]
	t.above[q] = above
	t.pivots++
}

// columnError returns by how much column q of the cells breaks the tight rows and row r, relative
// to its largest value.
func (t *tableau) columnError(r, q int) float64 {
	direction, largest := make([]float64, t.n), 1.0
	for p, v := range t.basic {
		if v < t.n {
			direction[v] = t.cells[p][q]
			largest = max(largest, math.Abs(direction[v]))
		}
	}
	if v := t.nonbasic[q]; v < t.n {
		direction[v] = 1
	}
	worst := 0.0
	for at, v := range t.nonbasic {
		if v < t.n {
			continue
		}
		off := floats.Dot(t.rows[v-t.n].coef, direction)
		if at == q {
			off++
		}
		worst = max(worst, math.Abs(off))
	}
	if v := t.basic[r]; v >= t.n {
		off := floats.Dot(t.rows[v-t.n].coef, direction) + t.cells[r][q]
		worst = max(worst, math.Abs(off))
	}
	return worst / largest
}
