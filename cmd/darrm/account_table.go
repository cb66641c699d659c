package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
)

// methodTitle is a method's column.
func methodTitle(method string) string {
	if method == ensemble.ByVotes {
		return "by the votes"
	}
	return method
}

// renderStatement writes what answers cost together as a table, a row for each number.
func renderStatement(w io.Writer, s *ensemble.Statement, o ensemble.StatementOptions) error {
	fmt.Fprintf(w, "K = %d teachers, %s; one record reaches %d of them\n", s.K, teachers(o.Problem), s.Affected)
	fmt.Fprintf(w, "one answer: %v-DP", s.PerAnswer)
	if _, plain := o.Answer.(accountant.ApproxDP); !plain {
		fmt.Fprintf(w, ", %v", o.Answer)
	}
	fmt.Fprint(w, "\n\n")
	if s.Fresh != nil {
		if promiseNothing(o.Problem) {
			fmt.Fprintf(w, "Q answers, each with fresh noise of the mechanism's own\n\n")
		} else {
			fmt.Fprintf(w, "Q answers of FRESH teachers: each vote is a new run of a private mechanism\n\n")
		}
		if err := renderFresh(w, s); err != nil {
			return err
		}
	}
	if s.Fresh != nil && s.Frozen != nil {
		fmt.Fprintln(w)
	}
	if s.Frozen != nil {
		fmt.Fprintf(w, "Q answers of FROZEN teachers, trained once: %v-DP, however many\n", s.Frozen.Cost)
		fmt.Fprintf(w, "  (%s; the answers are post-processing of the training)\n", s.Frozen.Rule)
	}
	return nil
}

func renderFresh(w io.Writer, s *ensemble.Statement) error {
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
	return renderRows(w, header, rows, nil)
}
