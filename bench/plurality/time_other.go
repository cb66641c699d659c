//go:build !unix

package main

import "time"

var started = time.Now()

// processorTime returns elapsed seconds: what processors worked is not known here.
func processorTime() float64 { return time.Since(started).Seconds() }
