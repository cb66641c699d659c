package rounds

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
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

// The shuffler reads what a silo sealed, and nobody else does. A seal of another round, silo or
// plan, without the silo's pass, to another key, or changed in any byte, is refused.
func TestSeal(t *testing.T) {
	p := newPlan(t, nil)
	r := p.First()
	key, other := must.Get(NewShufflerKey())(t), must.Get(NewShufflerKey())(t)
	key = must.Get(ReadShufflerKey(must.Get(key.Encode())(t)))(t)
	public := must.Get(ReadSealKey(key.Public().Encode()))(t)
	pass := must.Get(ReadPass(must.Get(must.Get(key.Pass(1))(t).Encode())(t)))(t)
	if again := must.Get(key.Pass(1))(t); pass != again || pass.Silo != 1 {
		t.Errorf("pass %v, then %v", pass, again)
	}
	reports := bytes.Repeat([]byte("reports of a silo "), 40)
	sealed := must.Get(p.Seal(public, pass, r, reports))(t)
	if got := must.Get(p.Unseal(key, r, 1, sealed))(t); !bytes.Equal(got, reports) {
		t.Errorf("unsealed %q", got)
	}
	if bytes.Contains(sealed, reports[:18]) || len(sealed) > len(reports)+sealRoom {
		t.Errorf("sealed in %d bytes: %q", len(sealed), sealed)
	}
	if bytes.Equal(sealed, must.Get(p.Seal(public, pass, r, reports))(t)) {
		t.Error("two seals are the same")
	}
	if _, err := p.Seal(other.Public(), pass, r, reports); !errors.Is(err, ErrFormat) {
		t.Errorf("sealed to a stranger's key: %v", err)
	}
	next := *r
	next.Round = 1
	// Another silo has a pass of its own, and may claim to be silo 1.
	impostor := must.Get(key.Pass(2))(t)
	impostor.Silo = 1
	for name, unseal := range map[string]func() ([]byte, error){
		"another silo":  func() ([]byte, error) { return p.Unseal(key, r, 0, sealed) },
		"another round": func() ([]byte, error) { return p.Unseal(key, &next, 1, sealed) },
		"another plan":  func() ([]byte, error) { return newPlan(t, nil).Unseal(key, r, 1, sealed) },
		"another key":   func() ([]byte, error) { return p.Unseal(other, r, 1, sealed) },
		"no seal":       func() ([]byte, error) { return p.Unseal(key, r, 1, reports) },
		"empty":         func() ([]byte, error) { return p.Unseal(key, r, 1, nil) },
		"another pass": func() ([]byte, error) {
			return p.Unseal(key, r, 1, must.Get(p.Seal(public, impostor, r, reports))(t))
		},
	} {
		if b, err := unseal(); !errors.Is(err, ErrFormat) || b != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := p.Unseal(key, r, 1, changed[:]); !errors.Is(err, ErrFormat) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
}

// Keys and passes of strangers are refused.
func TestReadKeys(t *testing.T) {
	key := must.Get(NewShufflerKey())(t)
	secret, public := must.Get(key.Encode())(t), key.Public().Encode()
	pass := must.Get(must.Get(key.Pass(0))(t).Encode())(t)
	if len(secret) > MaxKey || len(public) > MaxKey || len(pass) > MaxKey {
		t.Errorf("keys of %d, %d and %d bytes", len(secret), len(public), len(pass))
	}
	for _, b := range [][]byte{nil, secret, public, pass, public[:len(public)-9], secret[:len(secret)-9],
		[]byte(passMagic), []byte(passMagic + `{"silo": 0}`), []byte(secretMagic + "?"),
		[]byte(publicMagic)} {
		if _, err := ReadShufflerKey(b); !bytes.Equal(b, secret) && !errors.Is(err, ErrFormat) {
			t.Errorf("%.60q is a secret key: %v", b, err)
		}
		if _, err := ReadSealKey(b); !bytes.Equal(b, public) && !errors.Is(err, ErrFormat) {
			t.Errorf("%.60q is a public key: %v", b, err)
		}
		if _, err := ReadPass(b); !bytes.Equal(b, pass) && !errors.Is(err, ErrFormat) {
			t.Errorf("%.60q is a pass: %v", b, err)
		}
	}
}
