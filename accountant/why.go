package accountant

import "fmt"

// Why says for people which bound is the best, on what grounds, and what the next one
// would have been.
func (r Report) Why() string {
	best, ok := r.Best()
	if !ok {
		return r.refusal().Error()
	}
	s := fmt.Sprintf("%s: %v, %s", best.Method, best.Cost, grounds[best.Method])
	if best.Note != "" {
		s += " (" + best.Note + ")"
	}
	if len(r.Bounds) > 1 {
		s += fmt.Sprintf("; next is %s: %v", r.Bounds[1].Method, r.Bounds[1].Cost)
	}
	return s
}

// grounds is what each method rests on.
var grounds = map[Method]string{
	MethodBasic:    "the sum of what each event costs by itself",
	MethodGeneral:  "the closed form of advanced composition",
	MethodOptimal:  "the least that follows from each event's (epsilon, delta) alone",
	MethodGaussian: "the exact curve of normal noise",
	MethodZCDP:     "by zero-concentrated differential privacy",
	MethodRDP:      "by Rényi differential privacy at the best order",
	MethodPLD:      "from the sum of the events' privacy losses",
}
