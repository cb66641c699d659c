package pipeline

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble/teachers"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/learn/shuffled"
)

// A pipeline's rows, recomputed: what is trained on is not asked about, accuracies come
// from the votes, totals from the number of teachers that one record reaches.
func TestPipeline(t *testing.T) {
	experimenttest.Numbers(t)
	text, err := files.ReadFile("definitions/pipeline.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Parameters, Quick json.RawMessage }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	p := &pipelineParameters{solve: solve.Optimal}
	for _, layer := range []json.RawMessage{file.Parameters, file.Quick} {
		if err := json.Unmarshal(layer, p); err != nil {
			t.Fatal(err)
		}
	}
	r := &experiment.Run{Context: context.Background(),
		Options: experiment.Options{Data: t.TempDir(), Seed: 4}}
	w, err := p.workshop(r)
	if err != nil {
		t.Fatal(err)
	}
	if w.queries.Len() != p.Queries || w.train.Len()+w.queries.Len() != w.set.Private.Len() {
		t.Errorf("%d trained on, %d asked about, of %d", w.train.Len(), w.queries.Len(),
			w.set.Private.Len())
	}
	seen := map[float64]bool{}
	for i := range w.train.Len() {
		seen[w.train.Row(i)[0]] = true // normal variates: no two are equal
	}
	for i := range w.queries.Len() {
		if seen[w.queries.Row(i)[0]] {
			t.Fatalf("query %d was trained on", i)
		}
	}
	parts, err := teachers.OverlappingParts(w.train.Len(), 3, w.train.Len(), 0)
	if err != nil {
		t.Fatal(err)
	}
	p.StepSizes = []float64{1e-3}
	c := p.config(w, shuffled.Interleaved, accountant.Cost{Epsilon: 2, Delta: 1e-6})
	found, err := p.trainEveryStepSize(r, w, c, parts, 77, []aggregate{{method: methodPrivate}})
	if err != nil {
		t.Fatal(err)
	}
	x := found[0]
	// All three teachers are one record's: their total is three times one's.
	if math.Abs(x.Total.Epsilon-6) > 1e-9 || x.Affected != 3 || x.Teacher.Epsilon != 2 ||
		len(x.Accuracy) != p.Repeats {
		t.Errorf("%+v", x)
	}
	for _, a := range x.Accuracy {
		if a < 0.4 || a > 0.9 || math.Abs(a*float64(p.Queries)-math.Round(a*float64(p.Queries))) > 1e-9 {
			t.Errorf("accuracy %v of %d answers without noise", a, p.Queries)
		}
	}
	c.StepSize = 1e-3
	plan, err := teachers.NewPlan(t.Context(), teachers.Config{Teacher: c, Parts: parts}, w.train,
		w.set.Public)
	if err != nil {
		t.Fatal(err)
	}
	ones := make([]int, w.queries.Len())
	for i := range ones { // teachers who know
		ones[i] = 3 * int(w.queries.Response(i))
	}
	if got := rightShare(nil, plan.K(), ones, w.queries); got != 1 {
		t.Errorf("perfect teachers are right on %v", got)
	}
}
