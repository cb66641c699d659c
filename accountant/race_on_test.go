//go:build race

package accountant

// raced thins the numerical tests, in which nothing is concurrent, where the race detector
// slows them tenfold.
const raced = true
