// Package label has the commands that label within a privacy budget: plan, aggregate, budget,
// serve, compare and votes.
package label
