//go:build race

package raced

// Enabled is true where the race detector is on, which makes everything about ten times slower.
const Enabled = true
