package train

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// traceHeader is the first line.
var traceHeader = []string{"dataset", "task", "algorithm", "variant", "eps", "delta", "p", "eta",
	"seed", "epoch", "objective", "excess", "distance_to_opt"}

// TraceWriter writes traces as CSV, one line per simulation and epoch, in the columns
// dataset, task, algorithm, variant, eps, delta, p, eta, seed, epoch, objective, excess,
// distance_to_opt. Its figures are of the private data and not for release. It is for one goroutine
// at a time.
type TraceWriter struct {
	w *csv.Writer
}

// NewTraceWriter writes the header.
func NewTraceWriter(w io.Writer) (*TraceWriter, error) {
	t := &TraceWriter{csv.NewWriter(w)}
	if err := t.w.Write(traceHeader); err != nil {
		return nil, err
	}
	return t, nil
}

// TraceLabels are the columns of a trace that stay the same over a grid. Epsilon and
// Fraction are "" where the method has none, Variant where it has no order.
type TraceLabels struct {
	Dataset, Task, Algorithm, Variant string
	Epsilon, Delta, Fraction          string
}

// Write writes the cells of a grid. A cell without a trace has its last point only.
func (t *TraceWriter) Write(l TraceLabels, cells []Cell) error {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, cell := range cells {
		points := cell.Trace
		if points == nil {
			points = []Point{cell.Last}
		}
		for _, x := range points {
			if err := t.w.Write([]string{
				l.Dataset, l.Task, l.Algorithm, l.Variant, l.Epsilon, l.Delta, l.Fraction,
				number(cell.StepSize),
				strconv.FormatUint(cell.Seed, 10), strconv.Itoa(x.Epoch), number(x.Objective), number(x.Excess),
				number(x.Distance),
			}); err != nil {
				return err
			}
		}
	}
	t.w.Flush()
	if err := t.w.Error(); err != nil {
		return fmt.Errorf("write traces: %w", err)
	}
	return nil
}
