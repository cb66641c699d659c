package postgres

import "time"

// SetResolveTime sets how long a lost COMMIT is asked for, and returns what restores it.
func SetResolveTime(d time.Duration) (restore func()) {
	before := resolveTime
	resolveTime = d
	return func() { resolveTime = before }
}
