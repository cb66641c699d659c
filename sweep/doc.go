// Package sweep solves a grid of problems, a stated number of them at a time. A [Grid] lists the
// problems; [Run] solves them through the cache, so that a sweep that was interrupted goes on where
// it was. [ClassGrid] and [RunClasses] are the same for many classes.
package sweep
