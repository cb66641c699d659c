//go:build !amd64 && !wasm

package game

// raise is raiseEach.
func raise(found *[block]float64, around []float64, reach int, leaves []leaf, atoms []atom) {
	raiseEach(found, around, reach, leaves, atoms)
}
