package accountant

import "fmt"

// Why explains, for people, the best bound: its method, its grounds, and the next best bound.
func (r Report) Why() string {
	best, ok := r.Best()
	if !ok {
		return r.refusal().Error()
	}
	row, err := best.Method.row()
	if err != nil {
		return err.Error()
	}
	s := fmt.Sprintf("%s: %v, %s", best.Method, best.Cost, row.grounds)
	if best.Note != "" {
		s += " (" + best.Note + ")"
	}
	if len(r.Bounds) > 1 {
		s += fmt.Sprintf("; next is %s: %v", r.Bounds[1].Method, r.Bounds[1].Cost)
	}
	return s
}
