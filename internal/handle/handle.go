// Package handle copies what accessors give out and constructors take in. A value that promises
// something is immutable, but whoever holds a pointer to it can overwrite all of it at once: *p = *q
// compiles also where no field is exported. So no package shares such a pointer with its callers.
package handle

// Copy returns a copy of *p, nil for nil.
func Copy[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
