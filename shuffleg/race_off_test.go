//go:build !race

package shuffleg

const raceEnabled = false
