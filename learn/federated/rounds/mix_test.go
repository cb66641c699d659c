package rounds

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

// mixed is a shuffle as many machines do it: each cell of a stream is put in order by itself.
type mixed struct {
	*Mix
	messages federated.Reports
}

func mix(t testing.TB, p *Run, r *Round, files [][]byte) mixed {
	t.Helper()
	var silos []int
	var cells [2][Cells][]byte
	for _, f := range files {
		silo, reports, err := p.ReadReports(t.Context(), r, f)
		if err != nil {
			t.Fatal(err)
		}
		silos = append(silos, silo)
		for k := range reports {
			for m := range slices.Chunk(reports[k], p.size()) {
				cells[k][Cell(m)] = append(cells[k][Cell(m)], m...)
			}
		}
	}
	m := mixed{Mix: must.Get(p.NewMix(r, silos))(t)}
	for k := range cells {
		for _, cell := range cells[k] {
			randomiser.Sort(cell, p.size())
			m.messages[k] = append(m.messages[k], cell...)
		}
	}
	return m
}

// release returns the shuffled file.
func (m mixed) release(book Book) ([]byte, error) {
	file := slices.Concat(m.Head(), m.messages[0], m.messages[1])
	return file, m.Release(book, sha256.Sum256(file))
}

func (m mixed) sum(t testing.TB) func(of randomiser.Stream, block int) ([]float64, error) {
	return func(of randomiser.Stream, block int) ([]float64, error) {
		size := m.plan.size()
		return m.BlockSum(t.Context(), of, m.messages[of][block*BlockSize*size:][:m.BlockReports(of,
			block)*size])
	}
}

// Many machines together give the results of a Shuffle and an Aggregate, byte for byte. The test
// covers blocks that are full and one that is not, rounds of one stream and of two, and a missing
// silo. The two share a book.
func TestMixIsShuffleAndAggregate(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) { c.Silos, c.Missing = []int{4000, 9000, 2, 8000}, 8000 })
	silos, _ := newRecords(t, p)
	r, book := p.First(), newBook(t)
	for _, came := range [][]int{{0, 1, 2, 3}, {2, 0, 1}} {
		var files [][]byte
		for _, m := range came {
			files = append(files, must.Get(p.Answer(t.Context(), r, m, silos[m], always(uint64(m))(m)))(t))
		}
		want := shuffle(t, p, r, files, book)
		m := mix(t, p, r, files)
		if got := must.Get(m.release(book))(t); !bytes.Equal(got, want) {
			t.Fatalf("silos %v: %d bytes, not the %d of a shuffle in one place", came, len(got), len(want))
		}
		if missing := m.Missing(); len(missing) != 4-len(came) {
			t.Errorf("silos %v: missing %v", came, missing)
		}
		next := must.Get(m.Aggregate(t.Context(), m.sum(t)))(t)
		if one := must.Get(p.Aggregate(t.Context(), r, want))(t); !reflect.DeepEqual(next, one) {
			t.Fatalf("silos %v: the next round is\n%+v\nof one place\n%+v", came, next, one)
		}
		r = next
	}
}

// A mix refuses what a shuffle refuses, and the book knows it again.
func TestMixRefusesWhatAShuffleRefuses(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) { c.Missing = 25 })
	silos, _ := newRecords(t, p)
	r, book := p.First(), newBook(t)
	files := answers(t, p, r, silos, always(1))
	for name, tt := range map[string]struct {
		silos []int
		want  error
	}{
		"twice": {[]int{0, 1, 2, 1}, ErrFormat}, "partial": {[]int{1, 2}, ErrPartialRound},
		"none": {nil, ErrPartialRound}, "without the last": {[]int{1, 0}, nil},
	} {
		if _, err := p.NewMix(r, tt.silos); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.NewMix(r, []int{0, 1, 3}); err == nil {
		t.Error("a silo that the plan has not")
	}
	local := *r
	local.Local = &LocalRequest{Silo: 0, Direction: r.Model, Keep: -1}
	if _, err := p.NewMix(&local, []int{0, 1, 2}); !errors.Is(err, ErrFormat) {
		t.Errorf("where a reply is due: %v", err)
	}
	must.Get(mix(t, p, r, files[:2]).release(book))(t)
	shuffle(t, p, r, files[:2], book) // the same reports
	late := mix(t, p, r, files)
	if _, err := late.release(book); !errors.Is(err, ErrReleased) {
		t.Errorf("with a late silo: %v", err)
	}
	if _, err := late.Aggregate(t.Context(), func(randomiser.Stream, int) ([]float64, error) {
		return make([]float64, 2), nil
	}); err == nil {
		t.Error("a sum of another length")
	}
	// A mix has the plan and the round, and not what a broken sum says.
	broken := errors.New("broken")
	if _, err := late.Aggregate(t.Context(), func(randomiser.Stream, int) ([]float64, error) {
		return nil,
			broken
	}); !errors.Is(err, broken) {
		t.Errorf("a sum that failed: %v", err)
	}
}
