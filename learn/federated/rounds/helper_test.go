package rounds

import (
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/loss"
)

const features = 3

// newPlan plans a small run of ε₀ = 2, which needs no calibration.
func newPlan(t testing.TB, change func(*federated.PSGM)) *Run {
	t.Helper()
	c := federated.PSGM{
		Setting: federated.Setting{
			Loss: loss.Logistic{}, Silos: []int{30, 20, 25}, Rounds: 5, StepSize: 0.3, GradientClip: 1,
			DifferenceClip: 1,
			Target:         accountant.Cost{Delta: 1e-5},
		},
		Momentum: 0.4, Epsilon: 2, Account: federated.Unshuffled,
	}
	if change != nil {
		change(&c)
	}
	return must.Get(New(c, features, Columns{Intercept: true}))(t)
}

// newRecords returns records with an intercept, by silo and together.
func newRecords(t testing.TB, p *Run) (silos []*data.Records, all *data.Records) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var x, y []float64
	for range records(p.Silos()) {
		s := 0.0
		for j := range features {
			v := rng.NormFloat64()
			x = append(x, v)
			s += v * float64(j+1)
		}
		label := 0.0
		if s > 0 {
			label = 1
		}
		y = append(y, label)
	}
	all = must.Get(data.NewRecords(len(y), features, x, y))(t).WithIntercept()
	at := 0
	for _, n := range p.Silos() {
		rows := make([]int, n)
		for i := range rows {
			rows[i] = at + i
		}
		at += n
		silos = append(silos, must.Get(all.Select(rows))(t))
	}
	return silos, all
}

// answers returns the files of the silos' reports to a round.
func answers(t testing.TB, p *Run, r *Round, silos []*data.Records,
	coins func(silo int) stream.Coins) (files [][]byte) {
	t.Helper()
	for m := range silos {
		files = append(files, must.Get(p.Answer(t.Context(), r, m, silos[m], coins(m)))(t))
	}
	return files
}

// shuffle returns the files shuffled.
func shuffle(t testing.TB, p *Run, r *Round, files [][]byte, book Book) []byte {
	t.Helper()
	s := must.Get(p.NewShuffle(r))(t)
	for _, f := range files {
		must.Get(s.Add(t.Context(), f))(t)
	}
	return must.Get(s.Release(book))(t)
}

// newBook is a book that has nothing.
func newBook(t testing.TB) Book { return Book{Folder: t.TempDir()} }

// elsewhere is a new book in any round: what was released before is of no matter to the test.
func elsewhere(t testing.TB) Book { return Book{Folder: t.TempDir(), Begins: true} }

func always(seed uint64) func(int) stream.Coins {
	return func(int) stream.Coins { return stream.Seeded(seed) }
}
