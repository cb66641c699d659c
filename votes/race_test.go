//go:build race

package votes

func init() { raceDetector = true }
