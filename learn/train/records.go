package train

import (
	"cmp"
	"fmt"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
)

// CheckSize refuses what is not the n records of d features that a plan was made for.
func CheckSize(r interface {
	Len() int
	Dim() int
}, n, d int) error {
	if r.Len() != n {
		return &check.Error{Name: "number of records", Value: r.Len(),
			Rule: fmt.Sprintf("the %d of the plan", n)}
	}
	if r.Dim() != d {
		return &check.Error{Name: "number of features", Value: r.Dim(),
			Rule: fmt.Sprintf("the plan's, %d", d)}
	}
	return nil
}

// CheckRecords is [CheckSize], and refuses a record that usable refuses ([data.Records.Check]).
func CheckRecords(r *data.Records, n, d int, usable func(x []float64, y float64) error) error {
	if err := CheckSize(cmp.Or(r, new(data.Records)), n, d); err != nil {
		return err
	}
	return r.Check(usable)
}

// Shortened returns the records with features longer than radius in ‖·‖_q shortened to it, each
// record by itself, as the methods do: the constant feature of an intercept comes after.
func Shortened(r *data.Records, radius, q float64) *data.Records {
	if q == 2 {
		return r.Shortened(radius)
	}
	return r.Scaled(func(row []float64) float64 { return geometry.Shortening(row, radius, q) })
}
