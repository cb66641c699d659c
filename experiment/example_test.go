package experiment_test

import (
	"context"
	"fmt"
	"math"
	"os"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
)

// leibniz are the parameters of a kind: sums of Leibniz's series for π.
type leibniz struct {
	Terms []int `json:"terms"`
}

func (p *leibniz) Validate() error { return check.Some("terms", len(p.Terms)) }

func (p *leibniz) Steps() int { return len(p.Terms) }

func (p *leibniz) Run(r *experiment.Run) error {
	t := experiment.Table{Name: "sums", Columns: []experiment.Column{{Name: "terms", Title: "terms"},
		{Name: "sum", Title: "sum"}}}
	for _, n := range p.Terms {
		sum, err := experiment.Step(r, fmt.Sprintf("sum-%d", n), n, func() (sum float64, err error) {
			for k := range n {
				sum += 4 * math.Pow(-1, float64(k)) / float64(2*k+1)
			}
			return sum, nil
		})
		if err != nil {
			return err
		}
		t.Add(n, sum)
		r.Sentence("near", math.Abs(sum-math.Pi) <= 4/float64(2*n+1), map[string]any{"terms": n, "value": sum})
	}
	r.Table(t)
	return nil
}

// A kind of its own, and an experiment of it.
func ExampleNew() {
	catalog := experiment.New(experiment.Field{Kinds: []experiment.Kind{
		{Name: "leibniz", New: func() experiment.Parameters { return &leibniz{} }, Spec: &experiment.Spec{Claims: map[string][2]string{
			"near": {"{terms} terms: within the next one of π", "{value:%.4f}"}}}},
	}})
	d, err := catalog.Parse(
		[]byte(`{"format_version": 1, "name": "pi", "kind": "leibniz", "title": "π", "parameters": {"terms": [10, 1000]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	out, err := d.Run(context.Background(), dir, experiment.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range out.Result.Claims {
		fmt.Println(c.Holds, c.Text, c.Evidence)
	}
	// Output:
	// true 10 terms: within the next one of π 3.0418
	// true 1000 terms: within the next one of π 3.1406
}
