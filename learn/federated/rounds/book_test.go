package rounds

import (
	"errors"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/learn/federated"
)

// release shuffles the files of a round and releases them.
func release(t *testing.T, p *Run, r *Round, book Book, files ...[]byte) error {
	t.Helper()
	s := must.Get(p.NewShuffle(r))(t)
	for _, f := range files {
		must.Get(s.Add(t.Context(), f))(t)
	}
	_, err := s.Release(book)
	return err
}

// Whichever single report of a round is another one, the round is not released again: nine reports,
// most of them with no other in their part of the digest.
func TestEveryReportIsInTheBook(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) { c.Silos = []int{4, 5} })
	silos, _ := newRecords(t, p)
	r, book := p.First(), Book{Folder: t.TempDir()}
	files := answers(t, p, r, silos, always(1))
	if err := release(t, p, r, book, files...); err != nil {
		t.Fatal(err)
	}
	for m, n := range p.Silos() {
		for i := range n {
			changed := slices.Clone(files)
			changed[m] = slices.Clone(files[m])
			changed[m][len(files[m])-1-i*p.size()] ^= 1 // the sign of one report
			if err := release(t, p, r, book, changed...); !errors.Is(err, ErrReleased) {
				t.Errorf("silo %d, report %d from the end: %v", m+1, i+1, err)
			}
		}
	}
	if err := release(t, p, r, book, files...); err != nil {
		t.Errorf("the same again: %v", err)
	}
}

// A book may serve several plans: the rounds of one are not those of another.
func TestBookKeepsPlansApart(t *testing.T) {
	book := Book{Folder: t.TempDir()}
	for i, step := range []float64{0.3, 0.4} {
		p := newPlan(t, func(c *federated.PSGM) { c.StepSize = step })
		silos, _ := newRecords(t, p)
		r := p.First()
		if err := release(t, p, r, book, answers(t, p, r, silos, always(uint64(i)))...); err != nil {
			t.Errorf("step size %g: %v", step, err)
		}
		if err := release(t, p, r, book, answers(t, p, r, silos, always(9))...); !errors.Is(err,
			ErrReleased) {
			t.Errorf("step size %g, with other coins: %v", step, err)
		}
	}
}
