// Package accountant says what several private answers cost together.
//
// Basic is the composition that always applies. Every figure is rounded outward:
// what is reported is never less than what was spent.
//
// # Notation
//
//	(ε, δ)  Cost          a privacy guarantee
//	k       the count     how many mechanisms of one guarantee are composed
package accountant
