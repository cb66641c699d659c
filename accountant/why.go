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

// Why says for people why the bound holds, or does not.
func (b ReleaseBound) Why() string {
	switch {
	case b.Of == OfTeachers && b.Count == 1:
		return "every answer is a function of the trained teachers, of which one record reaches one"
	case b.Of == OfTeachers:
		return fmt.Sprintf("every answer is a function of the trained teachers, of which one record reaches %d", b.Count)
	case b.Of == OfTeacherAnswers:
		return "every answer is a function of what the teachers answered, each time with randomness of their own"
	case !b.Holds:
		return "no guarantee: it takes fresh teachers, but frozen ones share the randomness of their training between queries"
	case b.Count == 1:
		return "one answer by itself"
	}
	return "each answer has randomness of its own"
}
