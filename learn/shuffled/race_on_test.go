//go:build race

package shuffled

// raceEnabled says that the race detector is on, which makes everything ten times slower:
// runs that add nothing but statistics are shortened.
const raceEnabled = true
