package num

// Hull returns the smallest interval around both x and y: what is known of a number that
// may lie anywhere between them.
func (x Interval) Hull(y Interval) Interval {
	r := x
	if y.lo.Cmp(r.lo) < 0 {
		r.lo = y.lo
	}
	if y.hi.Cmp(r.hi) > 0 {
		r.hi = y.hi
	}
	return r
}
