package mechanisms

import (
	"fmt"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
)

// methodTitle returns the title of a method's column.
func methodTitle(method string) string {
	if method == ensemble.ByVotes {
		return "by the votes"
	}
	return method
}

// renderStatement writes the total cost of answers as a table, a row for each number.
func renderStatement(w *terminal.Page, s *ensemble.Statement, o ensemble.StatementOptions) error {
	w.Text("  ", fmt.Sprintf("K = %d teachers, %s; one record reaches %d of them", s.K,
		teachers(o.Problem), s.Affected))
	one := fmt.Sprintf("one answer: %s-DP", s.PerAnswer.Short())
	if o.Together.Most > 0 {
		one = fmt.Sprintf("up to %d answers of this table, charged once: %s-DP", o.Together.Most,
			s.PerAnswer.Short())
	}
	if _, plain := o.Answer.(accountant.ApproxDP); !plain {
		one += fmt.Sprintf(", %v", o.Answer)
	}
	w.Text("  ", one)
	w.Printf("\n")
	if s.Fresh != nil {
		if promiseNothing(o.Problem) {
			w.Text("  ", "Q answers, each with fresh noise of the mechanism's own")
		} else {
			w.Text("  ", "Q answers of FRESH teachers: each vote is a new run of a private mechanism")
		}
		w.Printf("\n")
		if err := renderFresh(w, s); err != nil {
			return err
		}
	}
	if s.Fresh != nil && s.Frozen != nil {
		w.Printf("\n")
	}
	if s.Frozen != nil {
		w.Text("  ", fmt.Sprintf("Q answers of FROZEN teachers, trained once: %s-DP, however many",
			s.Frozen.Cost.Short()))
		w.Hang("  ", "  ", fmt.Sprintf("(%s; the answers are post-processing of the training)",
			s.Frozen.Rule))
	}
	return nil
}

func renderFresh(w *terminal.Page, s *ensemble.Statement) error {
	header, methods := []string{"Q", "δ of all", "smallest ε of all"}, s.Methods()
	for _, m := range methods {
		header = append(header, methodTitle(m))
	}
	var rows [][]string
	for _, r := range s.Fresh {
		row := []string{strconv.Itoa(r.Queries), num.Outward(r.Delta, 6, true), "no promise"}
		if r.Epsilon != nil {
			row[2] = num.Outward(*r.Epsilon, 6, true)
		}
		for _, m := range methods {
			cell := "-"
			if epsilon, ok := r.Bound(m); ok {
				cell = num.Outward(epsilon, 6, true)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return w.Table(terminal.TextTable{Header: header, Rows: rows})
}
