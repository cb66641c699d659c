// Package skipped has tests that need what is not here.
package skipped

// Half returns n/2.
func Half(n int) int { return n / 2 }
