package game

import "golang.org/x/sys/cpu"

//go:noescape
func raiseAVX(found *[block]float64, origin *float64, leaves *leaf, n int, atoms *atom)

// raise is raiseEach, four points at a time where the processor has AVX.
func raise(found *[block]float64, around []float64, reach int, leaves []leaf, atoms []atom) {
	if !cpu.X86.HasAVX || len(leaves) == 0 || len(atoms) == 0 {
		raiseEach(found, around, reach, leaves, atoms)
		return
	}
	// The tree's leaves have atoms in all, each within reach: no other place is read.
	_ = around[2*reach+block-1]
	raiseAVX(found, &around[reach], &leaves[0], len(leaves), &atoms[0])
}
