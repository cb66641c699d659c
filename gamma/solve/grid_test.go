package solve

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/bench/processor"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
)

// gridCell is a problem of the grid of teachers, allowances, promises, objectives and shapes.
type gridCell struct {
	k             int
	m, eps, delta float64
	worstCase     bool
	shape         gamma.Shape
}

func (c gridCell) String() string {
	objective := "mean"
	if c.worstCase {
		objective = "worst"
	}
	return fmt.Sprintf("K=%d m=%g ε=%g Δ=%g %s %s", c.k, c.m, c.eps, c.delta, objective, c.shape)
}

// gridOf lists the whole grid of k teachers.
func gridOf(k int) (out []gridCell) {
	for _, m := range []float64{1, 2, 3, float64(k) / 10} {
		for _, eps := range []float64{0.1, 0.5, 1, 2, 4} {
			for _, delta := range []float64{0, 1e-5, 1e-3} {
				for _, worstCase := range []bool{false, true} {
					for _, shape := range []gamma.Shape{gamma.Any, gamma.Free, gamma.Monotone} {
						out = append(out, gridCell{k, m, eps, delta, worstCase, shape})
					}
				}
			}
		}
	}
	return out
}

// The grid of few teachers is proved whole, each day.
func TestGridOfFew(t *testing.T) {
	for _, c := range gridOf(15) {
		table := optimal(t, problem(t, c.k, c.m, c.eps, c.delta), Options{WorstCase: c.worstCase, Shape: c.shape})
		if !table.Optimal() || strings.Contains(table.Solver, "early") {
			t.Errorf("%s: error %g, gap %g, by %s", c, table.ExpectedError, table.Gap, table.Solver)
		}
	}
}

// gridCells lists the grid. Up to 201 teachers it is whole. For 301 it is thinned as a Latin square is:
// kept are the cells the sum of whose places, along all axes, is divisible by 4, a quarter. From 501
// teachers on each 13th is kept: 13 divides none of the axes' lengths, so that each value of an axis
// comes as often as another.
func gridCells() (out []gridCell) {
	for _, k := range []int{51, 151, 201, 301, 501, 1001} {
		for n, c := range gridOf(k) {
			// Its places along the axes: the number n in their digits; K = 301 has place 3.
			places := 3 + n%3 + n/3%2 + n/6%3 + n/18%5 + n/90
			if k == 301 && places%4 > 0 || k > 301 && (n+1)%13 > 0 {
				continue
			}
			out = append(out, c)
		}
	}
	return out
}

// gridFile keeps a line for each cell above 201 teachers that was solved: what was found, in how many
// rounds, after how many millions of multiplications (0: not counted then), and how it ended.
var gridFile = filepath.Join("testdata", "grid.tsv")

// The grid: each problem has a certified table within 1 % of its optimum, within DefaultWork. -run
// 'TestGridOfTables/K=301_m=1_' solves a part of it; -update writes testdata/grid.tsv, with which
// the errors must agree. The log has the seconds of the processor, which are this machine's.
func TestGridOfTables(t *testing.T) {
	if !long() {
		t.Skip("it takes an hour: DARRM_LONG=1")
	}
	known, found := readGrid(t), map[string]string{}
	for _, c := range gridCells() {
		t.Run(c.String(), func(t *testing.T) {
			began := processor.Time()
			table, last := workOf(t, problem(t, c.k, c.m, c.eps, c.delta),
				Options{WorstCase: c.worstCase, Shape: c.shape})
			gap, end := table.Gap/table.ErrorOfCoin(), "closed"
			if _, early, is := strings.Cut(table.Solver, ", stopped early"); is {
				end = "early" + early
			}
			line := fmt.Sprintf("%.10g\t%.2g\t%d\t%d\t%s", table.ExpectedError, gap, last.Round,
				last.Work/1e6, end)
			t.Logf("CELL\t%s\t%s\t%.1f s", c, line, processor.Time()-began)
			if !(gap <= 0.01) {
				t.Errorf("gap %g", gap)
			}
			if c.k <= 201 {
				return
			}
			found[c.String()] = line
			var value, within float64
			if line := known[c.String()]; line != "" && !*update {
				must.Get(fmt.Sscan(line, &value, &within))(t)
				if math.Abs(value-table.ExpectedError) > (1e-9+within+gap)*table.ErrorOfCoin() {
					t.Errorf("error %.10g, %s has %.10g", table.ExpectedError, gridFile, value)
				}
			}
		})
	}
	if *update {
		maps.Copy(known, found)
		writeGrid(t, known)
	}
}

// readGrid returns the lines of the file, by cell.
func readGrid(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	file, err := os.Open(gridFile)
	if errors.Is(err, os.ErrNotExist) && *update {
		return out
	} else if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if cell, line, ok := strings.Cut(lines.Text(), "\t"); ok {
			out[cell] = line
		}
	}
	return out
}

// writeGrid writes the lines in the order of the cells.
func writeGrid(t *testing.T, lines map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("cell\terror\tgap of coins' error\trounds\tmillion multiplications\tend\n")
	for _, c := range gridCells() {
		if line := lines[c.String()]; line != "" {
			fmt.Fprintf(&b, "%s\t%s\n", c, line)
		}
	}
	if err := os.WriteFile(gridFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
