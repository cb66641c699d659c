// Package sweep solves a grid of problems, a stated number of them at a time. A [Grid] lists the
// problems; [Run] solves them through the cache, so that a sweep that was interrupted goes on where
// it was. A [ClassGrid] is one of problems of many classes.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
package sweep
