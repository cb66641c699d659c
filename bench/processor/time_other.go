//go:build !unix

package processor

import "time"

var started = time.Now()

// Time returns elapsed seconds: what processors worked is not known here.
func Time() float64 { return time.Since(started).Seconds() }
