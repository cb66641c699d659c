//go:build race

package datasets

// raceEnabled is true under the race detector, which makes everything ten times slower. Runs that
// only add statistics are shortened then.
const raceEnabled = true
