// Package problem has the flags that state a mechanism and find its table: the teachers' promise,
// the privacy of an answer, the objective, the solver, its cache and its time limit.
package problem
