// Package partly has a test that runs and one that needs what is not here.
package partly

// Half returns n/2.
func Half(n int) int { return n / 2 }

// Third returns n/3.
func Third(n int) int { return n / 3 }
