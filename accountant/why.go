package accountant

import "fmt"

// Why says for people which bound is the best, on what grounds, and what the next one
// would have been.
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
