package solve

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/plurality"
)

// An entry is used where it is what was asked for, private and near enough; anything else is
// solved again, and said.
func TestCached(t *testing.T) {
	ctx := context.Background()
	store, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, o := plurality.Problem{K: 9, Classes: 3, Epsilon: .5, Affected: 1},
		plurality.Objective{Accuracy: .6}
	get := func(gap float64) Result {
		t.Helper()
		r, err := Cached(ctx, store, p, o, Options{Gap: gap})
		if err != nil || r.Table.Gap > gap {
			t.Fatalf("gap %v, %v", r.Table.Gap, err)
		}
		return r
	}
	if r := get(1e-3); r.Cached || r.Rejected != nil || r.Path == "" {
		t.Errorf("at first: %+v", r)
	}
	if r := get(1e-3); !r.Cached {
		t.Errorf("the second time: %v", r.Rejected)
	}
	// What is found must not depend on what was sought before.
	if r := get(1e-8); r.Cached || r.Rejected != nil {
		t.Errorf("a smaller gap: %v", r.Rejected)
	}
	good := get(1e-8)
	if !good.Cached {
		t.Error("a smaller gap has no place of its own")
	}
	if r := get(1e-3); !r.Cached || r.Table.Gap == good.Table.Gap {
		t.Error("the better table took the place of the one for a larger gap")
	}
	var b bytes.Buffer
	if err := good.Table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	other := p
	other.Epsilon = .4 // private enough for p, and near its own optimum
	var o4 bytes.Buffer
	if err := optimal(t, other, o, Options{Gap: 1e-8}).Encode(&o4); err != nil {
		t.Fatal(err)
	}
	var o7 bytes.Buffer // near the optimum of another objective
	if err := optimal(t, p, plurality.Objective{Accuracy: .7}, Options{Gap: 1e-8}).Encode(&o7); err !=
		nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"a good table":  o4.String(),
		"another prior": o7.String(),
		"no table":      "nonsense",
		"a prior of the same number": strings.Replace(b.String(), `"accuracy":0.6`, `"concentration":0.6`,
			1),
		"another problem": strings.Replace(b.String(), `"accuracy":0.6`, `"accuracy":0.7`, 1),
		"not private": strings.Replace(b.String(), `"total_epsilon":0.5`,
			`"total_epsilon":0.49`, 1),
		"no proof": b.String()[:strings.Index(b.String(), `"proof":`)] +
			`"proof":[],"solver":"","version":""}`,
	} {
		key := keyOf(p, o, Options{Gap: 1e-6}.withDefaults())
		if err := store.Put(key, []byte(value)); err != nil {
			t.Fatal(err)
		}
		if name == "not private" { // under the key of what it claims
			q := p
			q.Epsilon = .49
			if err := store.Put(keyOf(q, o, Options{Gap: 1e-6}.withDefaults()), []byte(value)); err != nil {
				t.Fatal(err)
			}
			r, err := Cached(ctx, store, q, o, Options{Gap: 1e-6})
			if err != nil || r.Cached || r.Rejected == nil ||
				!strings.Contains(r.Rejected.Error(), "not certified") {
				t.Errorf("%s: %v, %v", name, r.Rejected, err)
			}
		}
		if r := get(1e-6); r.Cached || r.Rejected == nil {
			t.Errorf("%s: the entry was used", name)
		}
	}
	if r, err := Cached(ctx, nil, p, o, Options{Gap: 1e-3}); err != nil || r.Path != "" ||
		r.Table == nil {
		t.Errorf("without a store: %v", err)
	}
	// What was stopped early is not for the cache.
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	q := p
	q.K = 10
	r, err := Cached(stopped, store, q, o, Options{BestOnCancel: true})
	if err != nil || r.Path != "" || r.Table.Gap < 1e-6 {
		t.Errorf("stopped: %+v, %v", r, err)
	}
	if _, err := store.Get(keyOf(q, o, Options{BestOnCancel: true}.withDefaults())); err == nil {
		t.Error("what was stopped early was stored")
	}
}

// A cached table counts as near enough up to the stated gap, and not beyond.
func TestCachedGapIsTheStatedOne(t *testing.T) {
	store, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, o := plurality.Problem{K: 9, Classes: 3, Epsilon: .5, Affected: 1},
		plurality.Objective{Accuracy: .6}
	first, err := Cached(t.Context(), store, p, o, Options{Gap: 1e-3})
	if err != nil || first.Table.Gap < 1e-9 {
		t.Fatalf("%+v, %v", first, err)
	}
	stored, err := store.Get(keyOf(p, o, Options{Gap: 1e-3}.withDefaults()))
	if err != nil {
		t.Fatal(err)
	}
	for factor, cached := range map[float64]bool{1: true, .5: false} {
		_, err := fromCache(t.Context(), bytes.NewReader(stored), p, o, factor*first.Table.Gap)
		if (err == nil) != cached {
			t.Errorf("%g times its gap: %v", factor, err)
		}
	}
}

func TestKeysDiffer(t *testing.T) {
	p, o := plurality.Problem{K: 9, Classes: 3, Epsilon: .5, Affected: 1},
		plurality.Objective{Accuracy: .6}
	keys := map[string]string{keyOf(p, o, Options{Gap: 1e-6}.withDefaults()): "p"}
	for name, change := range map[string]func(*plurality.Problem, *plurality.Objective){
		"K":        func(p *plurality.Problem, _ *plurality.Objective) { p.K = 8 },
		"classes":  func(p *plurality.Problem, _ *plurality.Objective) { p.Classes = 4 },
		"epsilon":  func(p *plurality.Problem, _ *plurality.Objective) { p.Epsilon = .4 },
		"delta":    func(p *plurality.Problem, _ *plurality.Objective) { p.Delta = 1e-6 },
		"affected": func(p *plurality.Problem, _ *plurality.Objective) { p.Affected = 2 },
		"abstain":  func(p *plurality.Problem, _ *plurality.Objective) { p.Abstain = true },
		"value": func(p *plurality.Problem, o *plurality.Objective) {
			p.Abstain,
				o.AbstainValue = true, .3
		},
		"accuracy": func(_ *plurality.Problem, o *plurality.Objective) { o.Accuracy = .7 },
		"concentration": func(_ *plurality.Problem, o *plurality.Objective) {
			*o = plurality.Objective{Concentration: .6}
		},
		"another concentration": func(_ *plurality.Problem, o *plurality.Objective) {
			*o = plurality.Objective{Concentration: 1}
		},
		"counts": func(_ *plurality.Problem, o *plurality.Objective) {
			*o = plurality.Objective{Counts: []plurality.HistogramCount{{Votes: []int{9, 0, 0}, Count: 1}}}
		},
		"other counts": func(_ *plurality.Problem, o *plurality.Objective) {
			*o = plurality.Objective{Counts: []plurality.HistogramCount{{Votes: []int{9, 0, 0}, Count: 2}}}
		},
	} {
		q, r := p, o
		change(&q, &r)
		if same, ok := keys[keyOf(q, r, Options{Gap: 1e-6}.withDefaults())]; ok {
			t.Errorf("%s has the key of %s", name, same)
		}
		keys[keyOf(q, r, Options{Gap: 1e-6}.withDefaults())] = name
	}
}
