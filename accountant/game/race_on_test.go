//go:build race

package game

// raced leaves out numerical tests, which the race detector slows tenfold. Others play the same
// game over several processors.
const raced = true
