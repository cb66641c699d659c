package solve

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
)

// A cache entry is a claim: it is used only if it is the table that was asked for,
// private, and optimal. Whatever else stands there is named, and replaced.
func TestCachedBelievesNothing(t *testing.T) {
	store, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, o := problem(t, 7, 2, 0.1, 1e-5), Options{}
	get := func(p constraints.Problem, o Options) Result {
		t.Helper()
		return must.Get(Cached(context.Background(), store, p, o))(t)
	}
	encoded := func(table *gamma.Table) []byte {
		t.Helper()
		var b bytes.Buffer
		if err := table.Encode(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	first := get(p, o)
	if first.Cached || first.Rejected != nil || first.Path == "" {
		t.Fatalf("first: %+v", first)
	}
	want := encoded(first.Table)
	good := func(r Result) bool { return bytes.Equal(encoded(r.Table), want) }
	if second := get(p, o); !second.Cached || second.Rejected != nil || !good(second) {
		t.Fatalf("second: %+v", second)
	}

	useless, err := gamma.Constant(7, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	certified, err := gamma.Certify(context.Background(), p, useless)
	if err != nil {
		t.Fatal(err)
	}
	poor, err := gamma.NewTable(context.Background(), certified, first.Table.Objective,
		first.Table.Proof)
	if err != nil {
		t.Fatal(err)
	}
	weaker := get(problem(t, 7, 3, 0.1, 1e-5), o)
	clearer := get(p, Options{PriorMean: ClearPriorMean})
	for name, c := range map[string]struct {
		entry []byte
		want  string
	}{
		"no table":          {[]byte("{}"), "not a noise-function table"},
		"another problem's": {encoded(weaker.Table), "other parameters"},
		"another objective": {encoded(clearer.Table), "other parameters"},
		"a relabelled one": {bytes.Replace(encoded(weaker.Table), []byte(`"m": 3`), []byte(`"m": 2`), 1),
			""},
		"private, useless": {encoded(poor), "only shown to be within"},
		"no proof": {append([]byte(nil), bytes.Replace(want,
			want[bytes.Index(want, []byte(`"proof"`)):bytes.Index(want, []byte(`"solver"`))],
			[]byte(`"proof": [], `), 1)...), "only shown to be within"},
	} {
		if err := store.Put(keyOf(p, o), c.entry); err != nil {
			t.Fatal(err)
		}
		r := get(p, o)
		if r.Cached || r.Rejected == nil || !strings.Contains(r.Rejected.Error(), c.want) || !good(r) {
			t.Errorf("%s: cached %v, rejected because %v", name, r.Cached, r.Rejected)
		}
		if again := get(p, o); !again.Cached || !good(again) {
			t.Errorf("%s was not replaced", name)
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Cached(ctx, store, problem(t, 5, 2, 0.1, 0), o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// The best so far is no optimum: it must not be stored.
	early := Options{BestOnCancel: true}
	q := problem(t, 9, 2, 0.1, 1e-5)
	if r, err := Cached(ctx, store, q, early); err != nil || r.Table == nil || r.Path != "" {
		t.Errorf("stopped early: %+v, %v", r, err)
	}
	if r := get(q, o); r.Cached {
		t.Error("a table of a solve that was stopped early came from the cache")
	}
	if r, err := Cached(context.Background(), nil, p, o); err != nil || r.Cached || r.Path != "" ||
		!good(r) {
		t.Errorf("without a cache: %+v, %v", r, err)
	}
}

// An entry that is optimal as far as its gap tells, and worse than a baseline, is solved
// again: what Optimal promises, Cached does.
func TestCachedIsNoWorseThanABaseline(t *testing.T) {
	store, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, o := problem(t, 5, 3, 0.1, 0), Options{}
	best := optimal(t, p, o)
	c, err := gamma.Certify(context.Background(), p, best.Func().Shrink(1-1e-9))
	if err != nil {
		t.Fatal(err)
	}
	worse, err := gamma.NewTable(context.Background(), c, best.Objective, best.Proof)
	if err != nil || worse.Gap > 1e-8 {
		t.Fatalf("gap %g, %v", worse.Gap, err)
	}
	var b bytes.Buffer
	if err := worse.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if err := store.Put(keyOf(p, o), b.Bytes()); err != nil {
		t.Fatal(err)
	}
	r, err := Cached(context.Background(), store, p, o)
	if err != nil || r.Cached || r.Rejected == nil ||
		!strings.Contains(r.Rejected.Error(), "but randomised-response-tight has") {
		t.Fatalf("cached %v, rejected because %v, %v", r.Cached, r.Rejected, err)
	}
	noWorse(t, r.Table)
	if r, err := Cached(context.Background(), store, p, o); err != nil || !r.Cached {
		t.Errorf("again: cached %v, %v", r.Cached, err)
	}
}

// Everything that changes the table changes the key.
func TestKeyTellsProblemsApart(t *testing.T) {
	p := problem(t, 7, 2, 0.1, 1e-5)
	seen := map[string]bool{}
	add := func(p constraints.Problem, o Options) {
		if k := keyOf(p, o); seen[k] {
			t.Errorf("%s stands for two tables", k)
		} else {
			seen[k] = true
		}
	}
	add(p, Options{})
	for _, change := range []func(*constraints.Problem){
		func(p *constraints.Problem) { p.K = 8 }, func(p *constraints.Problem) { p.M = 3 },
		func(p *constraints.Problem) {
			p.M, p.TotalEpsilon = 0,
				0.2
		}, func(p *constraints.Problem) { p.Epsilon = 0.2 },
		func(p *constraints.Problem) { p.TeacherDelta = 2e-5 }, func(p *constraints.Problem) {
			p.Delta =
				1e-4
		},
		func(p *constraints.Problem) { p.Affected = 6 },
	} {
		q := p
		change(&q)
		add(q, Options{})
	}
	for _, o := range []Options{
		{PriorMean: 0.8}, {Shape: gamma.Monotone}, {Method: Exhaustive}, {WorstCase: true},
		{Counts: []float64{1, 1, 1, 1, 1, 1, 1, 1}}, {Counts: []float64{1, 1, 1, 1, 1, 1, 1, 2}},
	} {
		add(p, o)
	}
}
