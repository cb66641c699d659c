//go:build !race

package shuffled

const raceEnabled = false
