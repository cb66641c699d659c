package plan

import (
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
)

// Each size is the plan that New makes for it, and one that nothing fits is there with the reason.
func TestSizesArePlans(t *testing.T) {
	r := Request{Stated: ensemble.Stated{Classes: 2, Neighbours: accountant.ReplaceOne}, Queries: 20,
		Budget: accountant.Cost{Epsilon: 2}, Agreement: 0.99}
	law := func(k int, mean float64) *Law { return must.Get(Prior(k, 2, mean))(t) }
	sizes := []Size{{11, 1, law(11, 0.9)}, {31, 1, law(31, 0.9)}, {31, 1, law(31, 0.6)},
		{31, 31, law(31, 0.9)}}
	done := 0
	r.Progress = func(n, of int) {
		if done++; n != done || of != len(sizes) {
			t.Errorf("progress %d of %d", n, of)
		}
	}
	got := must.Get(Sizes(t.Context(), r, sizes))(t)
	for i, s := range got {
		r.K, r.Affected, r.Votes, r.Progress = s.K, &s.Affected, s.Votes, nil
		want := must.Get(New(t.Context(), r))(t).Choices[0]
		if s.Size != sizes[i] || s.Refused != nil || s.Best.Name != want.Name ||
			s.Best.Agreement != want.Agreement {
			t.Errorf("%+v, want %+v", s, want)
		}
	}
	agreement := func(i int) float64 { return got[i].Best.Agreement.Expected }
	if done != 4 || !(agreement(1) > agreement(0) && agreement(1) > agreement(2) &&
		agreement(1) > agreement(3)) {
		t.Errorf("%d: more teachers, better ones and fewer reached agree more often: %v %v %v %v", done,
			agreement(0), agreement(1), agreement(2), agreement(3))
	}
	r.Budget.Epsilon = 1e-5
	if got = must.Get(Sizes(t.Context(), r, sizes[:1]))(t); got[0].Best != nil ||
		got[0].Refused == nil {
		t.Errorf("%+v", got[0])
	}
	if _, err := Sizes(t.Context(), r, nil); err == nil ||
		!strings.Contains(err.Error(), "numbers of teachers") {
		t.Error(err)
	}
	if _, err := Sizes(t.Context(), r, []Size{{0, 1, nil}}); err == nil {
		t.Error("planned for no teacher")
	}
}

func TestReaching(t *testing.T) {
	at := func(k int, agreement float64) Sized {
		return Sized{Size: Size{K: k}, Best: &Choice{Agreement: Agreement{Expected: agreement}}}
	}
	none := Sized{Size: Size{K: 5}}
	for want, sizes := range map[int][]Sized{
		0:  {at(10, 0.5), at(20, 0.8)},
		20: {at(10, 0.5), at(20, 0.9)},
		30: {at(20, 0.5), at(10, 0.95), at(40, 0.99), at(30, 0.91)}, // not 10: 20 is worse again
		10: {none, at(10, 0.9)},
	} {
		if got := Reaching(sizes, 0.9); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}
