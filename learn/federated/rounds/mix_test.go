package rounds

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/report"
)

// mixed is a shuffle as many machines do it: every report goes to its place, in whatever order.
type mixed struct {
	*Mix
	messages federated.Reports
	contents Contents
}

func mix(t testing.TB, p *Plan, r *Round, files [][]byte, key *MixKey) mixed {
	t.Helper()
	var silos []int
	var all []federated.Reports
	for _, f := range files {
		silo, reports, err := p.ReadReports(t.Context(), r, f)
		if err != nil {
			t.Fatal(err)
		}
		silos, all = append(silos, silo), append(all, reports)
	}
	m := mixed{Mix: must.Get(p.NewMix(r, silos))(t)}
	for k, n := range m.Counts() {
		order, size := m.Order(key, report.Stream(k)), p.size()
		m.messages[k] = make([]byte, n*size)
		var parts [Buckets][][]byte
		for f, silo := range silos {
			for i, message := range slices.Collect(slices.Chunk(all[f][k], size)) {
				copy(m.messages[k][order.Place(silo, i)*size:][:size], message)
				parts[Bucket(message)] = append(parts[Bucket(message)], message)
			}
		}
		for i, part := range parts {
			rand.Shuffle(len(part), reflect.Swapper(part))
			m.contents.Set(report.Stream(k), i, part)
		}
	}
	return m
}

func (m mixed) sum(t testing.TB) func(of report.Stream, block int) ([]float64, error) {
	return func(of report.Stream, block int) ([]float64, error) {
		size := m.plan.size()
		return m.BlockSum(t.Context(), of, m.messages[of][block*BlockSize*size:][:m.BlockReports(of, block)*size])
	}
}

// What many machines do together is what a Shuffle with these coins and an Aggregate do, byte for byte, over
// blocks that are full and one that is not, in a round of one stream and one of two, and with a silo missing. The
// two share a book.
func TestMixIsShuffleAndAggregate(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) { c.Silos, c.Missing = []int{4000, 9000, 2, 8000}, 8000 })
	silos, _ := newRecords(t, p)
	r, book, key := p.First(), Book(t.TempDir()), must.Get(NewMixKey())(t)
	for _, came := range [][]int{{0, 1, 2, 3}, {2, 0, 1}} {
		var files [][]byte
		for _, m := range came {
			files = append(files, must.Get(p.Answer(t.Context(), r, m, silos[m], always(uint64(m))(m)))(t))
		}
		inOrder := slices.Clone(files)
		slices.SortFunc(inOrder, func(a, b []byte) int { return bytes.Compare(a[headSize:headSize+8], b[headSize:headSize+8]) })
		want := shuffle(t, p, r, inOrder, key.coins(), book)
		m := mix(t, p, r, files, key)
		head := must.Get(m.Release(book, &m.contents))(t)
		if got := slices.Concat(head, m.messages[0], m.messages[1]); !bytes.Equal(got, want) {
			t.Fatalf("silos %v: %d bytes, not the %d of a shuffle in one place", came, len(got), len(want))
		}
		if missing := m.Missing(); len(missing) != 4-len(came) {
			t.Errorf("silos %v: missing %v", came, missing)
		}
		next := must.Get(m.Aggregate(t.Context(), m.sum(t)))(t)
		if one := must.Get(p.Aggregate(t.Context(), r, want))(t); !reflect.DeepEqual(next, one) {
			t.Fatalf("silos %v: the next round is\n%+v\nof one place\n%+v", came, next, one)
		}
		// Another key: another order of the same reports, which the book lets pass.
		other := mix(t, p, r, files, must.Get(NewMixKey())(t))
		must.Get(other.Release(book, &other.contents))(t)
		if bytes.Equal(other.messages[0], m.messages[0]) {
			t.Error("two keys have one order")
		}
		if slices.Equal(m.Order(key, report.Gradients).places, m.Order(key, report.Differences).places) && m.count[0] == m.count[1] {
			t.Error("both streams have one order")
		}
		r = next
	}
}

// A mix refuses what a shuffle refuses, and the book knows it again.
func TestMixRefusesWhatAShuffleRefuses(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) { c.Missing = 25 })
	silos, _ := newRecords(t, p)
	r, book, key := p.First(), Book(t.TempDir()), must.Get(NewMixKey())(t)
	files := answers(t, p, r, silos, always(1))
	for name, tt := range map[string]struct {
		silos []int
		want  error
	}{
		"twice": {[]int{0, 1, 2, 1}, ErrFormat}, "partial": {[]int{1, 2}, ErrPartialRound}, "none": {nil, ErrPartialRound}, "without the last": {[]int{1, 0}, nil},
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
	m := mix(t, p, r, files[:2], key)
	short := m.contents
	for i := range short[0] {
		if short[0][i].Reports > 0 {
			short[0][i].Reports--
			break
		}
	}
	if head, err := m.Release(book, &short); err == nil || head != nil {
		t.Error("a report is lost on the way to the book")
	}
	must.Get(m.Release(book, &m.contents))(t)
	shuffle(t, p, r, files[:2], always(3)(0), book) // the same reports
	late := mix(t, p, r, files, key)
	if head, err := late.Release(book, &late.contents); !errors.Is(err, ErrReleased) || head != nil {
		t.Errorf("with a late silo: %v", err)
	}
	if _, err := late.Aggregate(t.Context(), func(report.Stream, int) ([]float64, error) { return make([]float64, 2), nil }); err == nil {
		t.Error("a sum of another length")
	}
	// A mix has the plan and the round, and not what a broken sum says.
	broken := errors.New("broken")
	if _, err := late.Aggregate(t.Context(), func(report.Stream, int) ([]float64, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("a sum that failed: %v", err)
	}
}
