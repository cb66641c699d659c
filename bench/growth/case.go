package main

import "fmt"

// All cases share the privacy allowance and the teachers' ε of the literature's figures.
const (
	allowance = 5   // m
	epsilon   = 0.1 // ε of each teacher
)

const (
	free     = "free"
	monotone = "monotone"
)

// solveCase is one problem for `darrm solve`.
type solveCase struct {
	k     int
	shape string
	delta float64 // Δ of each teacher
}

func (c solveCase) String() string {
	return fmt.Sprintf("K = %d, %s, Δ = %s", c.k, c.shape, short(c.delta))
}

// cases returns what is measured, small K first within each line of the figure.
func cases(quick bool) []solveCase {
	teachers := []int{11, 21, 41, 101, 201, 301, 501, 1001}
	if quick {
		teachers = teachers[:4]
	}
	var list []solveCase
	for _, shape := range []string{free, monotone} {
		for _, delta := range []float64{0, 1e-5} {
			for _, k := range teachers {
				list = append(list, solveCase{k: k, shape: shape, delta: delta})
			}
		}
	}
	return list
}
