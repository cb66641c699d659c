package randomiser

// Cap returns the number of favoured values, and that of all values.
func (r *PrivUnit) Cap() (near, all int) {
	return int(r.pick.near), int(r.pick.all)
}
