package prepare

import (
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
)

// The column of the weights is no feature; weights go with their records wherever they go, and no prediction needs them.
func TestWeightColumn(t *testing.T) {
	table := must.Get(data.NewCSV(strings.NewReader("a,w,y\n1,0.5,0\n2, 3 ,1\n4,0,1\n"), true))(t)
	m := must.Get(Rules{Response: "y", Weight: "w"}.Map(table))(t)
	r := must.Get(Read(table, m))(t)
	if r.Dim() != 1 || !slices.Equal(r.Weights(), []float64{0.5, 3, 0}) {
		t.Errorf("%d features, weights %v", r.Dim(), r.Weights())
	}
	if w := must.Get(r.Select([]int{2, 0}))(t).WithIntercept().Shortened(1).Weights(); !slices.Equal(w, []float64{0, 0.5}) {
		t.Errorf("selected: %v", w)
	}
	if w := must.Get(r.Head(1))(t).Weights(); !slices.Equal(w, []float64{0.5}) {
		t.Errorf("the first: %v", w)
	}
	if r.Digest() == r.Unweighted().Digest() || r.Unweighted().Weights() != nil {
		t.Error("weights are not in the digest, or stay")
	}
	if err := r.Check(func([]float64, float64) error { return nil }); err != data.ErrWeighted {
		t.Errorf("a method that knows no weights takes them: %v", err)
	}
	if m.With(true, "y").Weight != "" {
		t.Error("a prediction needs weights")
	}
}

func TestWeightRefusals(t *testing.T) {
	for cell, want := range map[string]string{
		"-1": "between 0 and", "": "the weight is blank", "NaN": "blank", "x": "must be a finite number", "1e60": "between 0 and",
	} {
		table := must.Get(data.NewCSV(strings.NewReader("a,w,y\n1,1,0\n2,"+cell+",1\n"), true))(t)
		_, err := Read(table, must.Get(Rules{Response: "y", Weight: "w"}.Map(table))(t))
		if err == nil || !strings.HasPrefix(err.Error(), `line 3, column "w": `) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", cell, err, want)
		}
	}
	for _, r := range []Rules{{Response: "y", Weight: "y"}, {Response: "y", Weight: "b"}, {Response: "y", Weight: "w", Only: []string{"a", "w"}}} {
		table := must.Get(data.NewCSV(strings.NewReader("a,w,y\n1,1,0\n"), true))(t)
		if _, err := r.Map(table); err == nil {
			t.Errorf("%+v is taken", r)
		}
	}
}
