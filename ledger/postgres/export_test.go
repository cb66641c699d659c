package postgres

import (
	"time"

	"github.com/darrm/darrm/ledger"
)

// OpenStore returns the store of a location, without a ledger around it.
func OpenStore(location string) (ledger.Store, error) { return newStore(location) }

// SetResolveTime sets how long a lost COMMIT is asked for, and returns what restores it.
func SetResolveTime(d time.Duration) (restore func()) {
	before := resolveTime
	resolveTime = d
	return func() { resolveTime = before }
}
