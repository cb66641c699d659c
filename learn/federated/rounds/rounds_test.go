package rounds

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/prepare"
)

// readBack returns the plan and the round as another machine reads them from their files.
func readBack(t testing.TB, p *Run, r *Round) (*Run, *Round) {
	t.Helper()
	q := must.Get(ReadPlan(must.Get(p.Encode())(t)))(t)
	return q, must.Get(q.ReadRound(must.Get(r.Encode())(t)))(t)
}

// A run by files is the simulation in one process, bit for bit, where both have the same coins:
// through every file's encoding, with and without local steps, by full gradients and by batches.
func TestFilesGiveTheTrajectoryOfOneProcess(t *testing.T) {
	for name, change := range map[string]func(*federated.PSGM){
		"full gradients": nil,
		"batches":        func(c *federated.PSGM) { c.FirstBatch, c.Batch = []int{10}, []int{5} },
		"own batches": func(c *federated.PSGM) {
			c.FirstBatch, c.Batch, c.StepSize = []int{10, 5, 8}, []int{5, 0, 4}, 0
		},
		"one stream": func(c *federated.PSGM) { c.Momentum, c.DifferenceClip = 1, 0 },
		"local steps": func(c *federated.PSGM) {
			c.Local = federated.Local{Steps: 3, Batch: 4, Clip: 1, Noise: 2}
		},
		"uniform": func(c *federated.PSGM) { c.Output = federated.Uniform },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlan(t, change)
			silos, all := newRecords(t, p)
			coins := stream.Seeded(7)
			run := must.Get(p.Federated().Train(all))(t).Start(coins)
			r, book := p.First(), newBook(t)
			for k := range p.Rounds() {
				p, r = readBack(t, p, r)
				p.coins = coins
				shuffled := shuffle(t, p, r, answers(t, p, r, silos, always(7)), book)
				r = must.Get(p.Aggregate(t.Context(), r, shuffled))(t)
				if r.Local != nil {
					p, r = readBack(t, p, r)
					p.coins = coins
					r = must.Get(p.Accept(r, must.Get(p.Answer(t.Context(), r, r.Local.Silo, silos[r.Local.Silo],
						coins))(t)))(t)
				}
				if err := run.Round(t.Context(), k); err != nil {
					t.Fatal(err)
				}
				for _, v := range run.State() {
					switch v.Name {
					case "x":
						if !slices.Equal(v.Values, r.Model) {
							t.Fatalf("round %d: model %v, in one process %v", k, r.Model, v.Values)
						}
					case "v":
						if !slices.Equal(v.Values, r.Direction) {
							t.Fatalf("round %d: direction %v, in one process %v", k, r.Direction, v.Values)
						}
					}
				}
			}
			if !p.Finished(r) || r.Round != p.Rounds() || len(r.Result()) != features+1 {
				t.Errorf("after all rounds: %+v", r)
			}
		})
	}
}

// What the shuffler releases is the set of the reports: the file has no more bytes than reports of
// this number have, each stream is in the order of its reports' bytes, and the file is the same in
// whatever order the silos' files came, and whatever number a silo has.
func TestShuffledFileLinksNothing(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) { c.Silos = []int{25, 20, 25} })
	silos, _ := newRecords(t, p)
	r := p.First()
	r = must.Get(p.Aggregate(t.Context(), r, shuffle(t, p, r, answers(t, p, r, silos, always(1)),
		elsewhere(t))))(t)
	files := answers(t, p, r, silos, func(m int) stream.Coins { return stream.Seeded(uint64(m)) })
	size, n := p.size(), records(p.Silos())
	out := shuffle(t, p, r, files, elsewhere(t))
	if want := headSize + 24 + 2*n*size; len(out) != want {
		t.Errorf("%d bytes, want %d: the head, three counts and the reports", len(out), want)
	}
	var sent federated.Reports
	exchanged := slices.Clone(files) // the first silo and the last send each other's reports
	for m, f := range files {
		silo, s, err := p.readReports(r, f)
		if err != nil || silo != m {
			t.Fatalf("silo %d, %v", silo, err)
		}
		exchanged[m] = p.reportsFile(r, len(files)-1-m, s)
		for k := range s {
			sent[k] = append(sent[k], s[k]...)
		}
	}
	for name, other := range map[string][][]byte{
		"other arrival": {files[2], files[0], files[1]}, "other silos": exchanged,
	} {
		if got := shuffle(t, p, r, other, elsewhere(t)); !bytes.Equal(got, out) {
			t.Errorf("%s: another file", name)
		}
	}
	for k, got := range must.Get(p.readShuffled(r, out))(t) {
		want := slices.SortedFunc(slices.Chunk(sent[k], size), bytes.Compare)
		if !bytes.Equal(got, bytes.Join(want, nil)) {
			t.Errorf("stream %d is not the silos' reports in order", k)
		}
		if slices.EqualFunc(want, slices.Collect(slices.Chunk(sent[k], size)), bytes.Equal) {
			t.Errorf("stream %d was in order before", k)
		}
	}
}

// A partial round releases nothing and leaves the book as it was; with the silos that the price
// does without it may be partial.
func TestPartialRound(t *testing.T) {
	for missing, want := range map[int]error{0: randomiser.ErrPartialRound, 24: randomiser.ErrPartialRound,
		25: nil} {
		p := newPlan(t, func(c *federated.PSGM) { c.Missing = missing })
		silos, _ := newRecords(t, p)
		r, book := p.First(), t.TempDir()
		s := must.Get(p.NewShuffle(r))(t)
		for m := range 2 {
			must.Get(s.Add(t.Context(), answers(t, p, r, silos, always(1))[m]))(t)
		}
		if got := s.Missing(); !slices.Equal(got, []int{2}) {
			t.Errorf("missing %v", got)
		}
		out, err := s.Release(Book{Folder: book})
		if !errors.Is(err, want) || (out != nil) != (want == nil) {
			t.Errorf("%d may be missing: %v, %d bytes", missing, err, len(out))
		}
		if names := must.Get(os.ReadDir(book))(t); (len(names) != 0) != (want == nil) {
			t.Errorf("%d may be missing: the book has %v", missing, names)
		}
		if want == nil {
			if _, err := p.Aggregate(t.Context(), r, out); err != nil {
				t.Error(err)
			}
		}
	}
}

// A round is released with one set of reports: again with the same as the same file, never with
// a late silo's among them, nor with answers to another model.
func TestRoundIsReleasedOnce(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) { c.Missing = 25 })
	silos, _ := newRecords(t, p)
	r, book := p.First(), newBook(t)
	files := answers(t, p, r, silos, always(1))
	first := shuffle(t, p, r, files[:2], book)
	if again := shuffle(t, p, r, [][]byte{files[1], files[0]}, book); !bytes.Equal(first, again) {
		t.Error("the same reports are another file")
	}
	release := func(r *Round, files [][]byte) error {
		s := must.Get(p.NewShuffle(r))(t)
		for _, f := range files {
			must.Get(s.Add(t.Context(), f))(t)
		}
		out, err := s.Release(book)
		if (out != nil) != (err == nil) {
			t.Errorf("%d bytes with the error %v", len(out), err)
		}
		return err
	}
	if err := release(r, files); !errors.Is(err, ErrReleased) {
		t.Errorf("with a late silo: %v", err)
	}
	another := *r
	another.Model = []float64{1, 2, 3, 4}
	flipped := slices.Clone(files[1])
	flipped[len(flipped)-1] ^= 1 // the sign of one report
	if err := release(r, [][]byte{files[0], flipped}); !errors.Is(err, ErrReleased) {
		t.Errorf("with another bit: %v", err)
	}
	if err := release(&another, answers(t, p, &another, silos[:2], always(1))); !errors.Is(err,
		ErrReleased) {
		t.Errorf("with another model: %v", err)
	}
	// A book that cannot be written releases nothing.
	s := must.Get(p.NewShuffle(r))(t)
	for _, f := range files {
		must.Get(s.Add(t.Context(), f))(t)
	}
	var trouble *BookError
	if out, err := s.Release(Book{Folder: filepath.Join(t.TempDir(), "none"),
		Begins: true}); !errors.As(err, &trouble) || out != nil {
		t.Errorf("without a book: %v", err)
	}
}

// A book that does not know the round before may be an emptied one, beside which this round could
// be released a second time without a silo: the difference would be that silo's reports. It is
// refused unless it is stated that no other book has released the round, and then has to know that
// round itself.
func TestBookKnowsTheRoundBefore(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) { c.Missing = 25 })
	silos, _ := newRecords(t, p)
	r, book := p.First(), newBook(t)
	release := func(book Book, files [][]byte) ([]byte, error) {
		s := must.Get(p.NewShuffle(r))(t)
		for _, f := range files {
			must.Get(s.Add(t.Context(), f))(t)
		}
		return s.Release(book)
	}
	for range 2 {
		r = must.Get(p.Aggregate(t.Context(), r, shuffle(t, p, r, answers(t, p, r, silos, always(1)),
			book)))(t)
	}
	files := answers(t, p, r, silos, always(1))
	emptied := newBook(t)
	for range 2 {
		if out, err := release(emptied, files[:2]); !errors.Is(err, ErrOtherBook) || out != nil {
			t.Errorf("an emptied book: %d bytes, %v", len(out), err)
		}
		if names := must.Get(os.ReadDir(emptied.Folder))(t); len(names) != 0 {
			t.Errorf("a refused round is in the book: %v", names)
		}
	}
	whole := must.Get(release(book, files))(t)
	begun := Book{emptied.Folder, true}
	if again := must.Get(release(begun, files))(t); !bytes.Equal(whole, again) {
		t.Error("another file from another book")
	}
	if _, err := release(emptied, files); err != nil {
		t.Errorf("a round that the book knows: %v", err)
	}
	if _, err := release(begun, files[:2]); !errors.Is(err, ErrReleased) {
		t.Errorf("stated twice, with other reports: %v", err)
	}
}

// Files of another plan, round, model or silo, a second file of a silo, and damaged ones are
// refused, and leave the shuffler as it was.
func TestFilesThatDoNotFit(t *testing.T) {
	p := newPlan(t, nil)
	silos, _ := newRecords(t, p)
	r := p.First()
	files := answers(t, p, r, silos, always(1))
	shuffled := shuffle(t, p, r, files, elsewhere(t))
	another := *r
	another.Model = []float64{1, 0, 0, 0}
	next := must.Get(p.Aggregate(t.Context(), r, shuffled))(t)
	foreign := newPlan(t, nil) // the same parameters, another run
	flip := func(b []byte, at int) []byte { b = slices.Clone(b); b[at] ^= 0x80; return b }
	s := must.Get(p.NewShuffle(r))(t)
	must.Get(s.Add(t.Context(), files[1]))(t)
	for name, f := range map[string][]byte{
		"another plan":    answers(t, foreign, foreign.First(), silos, always(1))[0],
		"another round":   answers(t, p, next, silos, always(1))[0],
		"another model":   answers(t, p, &another, silos, always(1))[0],
		"a second time":   files[1],
		"empty":           nil,
		"magic":           flip(files[0], 3),
		"plan":            flip(files[0], len(reportsMagic)+2),
		"silo":            flip(files[0], headSize),
		"silo's size":     flip(files[0], headSize+7),
		"count":           flip(files[0], headSize+8),
		"huge count":      flip(files[0], headSize+15),
		"size":            flip(files[0], headSize+24),
		"cut":             files[0][:len(files[0])-1],
		"longer":          append(slices.Clone(files[0]), 0),
		"no report":       flip(files[0], len(files[0])-1),
		"already mingled": shuffled,
	} {
		if _, err := s.Add(t.Context(), f); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A silo that claims another's number sends another's count; of equal silos the second is refused.
	claimed := slices.Clone(files[0])
	claimed[headSize] = 2
	if _, err := s.Add(t.Context(), claimed); !errors.Is(err, ErrFormat) {
		t.Errorf("another's number: %v", err)
	}
	if got := s.shuffler.Count(randomiser.Gradients); got != 20 {
		t.Errorf("%d reports after files that were refused, want those of silo 2", got)
	}
	must.Get(s.Add(t.Context(), files[0]))(t)
	must.Get(s.Add(t.Context(), files[2]))(t)
	must.Get(s.Release(elsewhere(t)))(t)

	exchanged := slices.Clone(shuffled)
	copy(exchanged[headSize+24:], shuffled[headSize+24+p.size():][:p.size()])
	copy(exchanged[headSize+24+p.size():], shuffled[headSize+24:][:p.size()])
	for name, f := range map[string][]byte{
		"not in order": exchanged, "not shuffled": files[0], "cut": shuffled[:len(shuffled)-9],
		"count": flip(shuffled, headSize), "empty": nil,
		"doubled": p.body(p.head(shuffledMagic, r),
			federated.Reports{append(slices.Clone(shuffled[headSize+24:]), shuffled[headSize+24:]...)}),
	} {
		if _, err := p.Aggregate(t.Context(), r, f); err == nil {
			t.Errorf("%s is aggregated", name)
		}
	}
	if _, err := p.Aggregate(t.Context(), next, shuffled); !errors.Is(err, ErrFormat) {
		t.Errorf("reports of the round before: %v", err)
	}
}

// A plan's file states all that the price depends on. The cost that it states is not believed.
func TestPlanIsPricedAgain(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) {
		c.Local = federated.Local{Steps: 2, Batch: 3, Clip: 1, Noise: 3}
	})
	text := string(must.Get(p.Encode())(t))
	q := must.Get(ReadPlan([]byte(text)))(t)
	if q.Digest() != p.Digest() || q.Cost() != p.Cost() {
		t.Errorf("read back: %s %v, want %s %v", q.Digest(), q.Cost(), p.Digest(), p.Cost())
	}
	var d document
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	edit := func(change func(*document)) error {
		d := d
		local := *d.Local
		d.Local = &local
		change(&d)
		_, err := ReadPlan(must.Get(encode(d))(t))
		return err
	}
	for name, change := range map[string]func(*document){
		"cost":    func(d *document) { d.Cost.Epsilon *= 0.999 },
		"epsilon": func(d *document) { d.Epsilon *= 1.001 },
		"rounds":  func(d *document) { d.Rounds++ },
		"noise":   func(d *document) { d.Local.Noise /= 2 },
		"no cost": func(d *document) { d.Cost.Epsilon = 0 },
		"no step": func(d *document) { d.StepSize = 0 }, // the theory's would be another processor's
		"batches": func(d *document) { d.Batch = []int{1, 2} },
		"endless": func(d *document) { d.Cost.Epsilon = math.MaxFloat64; d.Epsilon = 0 },
		"silo":    func(d *document) { d.Silos = []int{30, -20, 65} },
		"task":    func(d *document) { d.Task = "network:x" },
		"huge":    func(d *document) { d.FeatureCount = math.MaxInt32 },
		"wide":    func(d *document) { d.Task, d.FeatureCount = "network:1000000", 1<<30 },
		"run":     func(d *document) { d.Run = "short" },
		"columns": func(d *document) {
			d.Preparation = &prepare.Map{Features: []prepare.Column{{Name: "a"}}}
		},
		"rules": func(d *document) {
			scale := &prepare.Range{1, 0}
			d.Preparation = &prepare.Map{Features: []prepare.Column{{Name: "a", Scale: scale}, {Name: "b"},
				{Name: "c"}}}
		},
		"classes": func(d *document) {
			d.Preparation = &prepare.Map{Features: []prepare.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}},
				Response: &prepare.Response{Column: prepare.Column{Name: "y",
					Categories: []string{"u", "v", "w"}}}}
		},
	} {
		if err := edit(change); !errors.Is(err, ErrFormat) {
			t.Errorf("%s changed: %v", name, err)
		}
	}
	if own := p.Federated().Price().Cost; p.Cost() != own || d.Cost != own {
		t.Errorf("it costs %v and states %v, the method costs %v", p.Cost(), d.Cost, own)
	}
	d.Cost.Epsilon *= 2
	if more, err := ReadPlan(must.Get(encode(d))(t)); err != nil || more.Cost() != d.Cost ||
		more.Price().Cost != d.Cost {
		t.Errorf("a plan that states more than it costs: %v", err)
	}
	for name, s := range map[string]string{
		"field": strings.Replace(text, `"run"`, `"walk"`, 1),
		"twice": strings.Replace(text, `"run"`, `"silos": [1], "run"`, 1), "more": text + "{}",
	} {
		if _, err := ReadPlan([]byte(s)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A round that no run of the plan can be in is refused.
func TestRoundsThatDoNotFit(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) {
		c.Local = federated.Local{Steps: 3, Batch: 4, Clip: 1, Noise: 2}
	})
	for name, change := range map[string]func(*Round){
		"plan":      func(r *Round) { r.Plan = "x" },
		"round":     func(r *Round) { r.Round = 6 },
		"negative":  func(r *Round) { r.Round = -1 },
		"length":    func(r *Round) { r.Model = r.Model[1:] },
		"diverged":  func(r *Round) { r.Model = []float64{1e101, 0, 0, 0} },
		"kept":      func(r *Round) { r.Kept = r.Model },
		"previous":  func(r *Round) { r.Previous = nil },
		"silo":      func(r *Round) { r.Local = &LocalRequest{Silo: 1, Direction: r.Model, Keep: -1} },
		"keep":      func(r *Round) { r.Local = &LocalRequest{Silo: 0, Direction: r.Model, Keep: 3} },
		"direction": func(r *Round) { r.Local = &LocalRequest{Silo: 0, Keep: -1} },
		"late": func(r *Round) {
			r.Round = 5
			r.Local = &LocalRequest{Silo: 2, Direction: r.Model, Keep: -1}
		},
	} {
		r := *p.First()
		change(&r)
		if _, err := p.ReadRound(must.Get(r.Encode())(t)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := p.First()
	silos, _ := newRecords(t, p)
	if _, err := p.Accept(r, nil); !errors.Is(err, ErrFormat) {
		t.Errorf("a reply where reports are due: %v", err)
	}
	r.Local = &LocalRequest{Silo: 0, Direction: []float64{1, 2, 3, 4}, Keep: -1}
	if _, err := p.Answer(t.Context(), r, 1, silos[1], stream.Seeded(1)); err == nil {
		t.Error("a silo answers another's local phase")
	}
	reply := must.Get(p.Answer(t.Context(), r, 0, silos[0], stream.Seeded(1)))(t)
	must.Get(p.Accept(r, reply))(t)
	another := *r
	another.Local = &LocalRequest{Silo: 0, Direction: []float64{1, 2, 3, 5}, Keep: -1}
	if _, err := p.Accept(&another, reply); !errors.Is(err, ErrFormat) {
		t.Errorf("a reply to another question: %v", err)
	}
}

func FuzzFiles(f *testing.F) {
	p := newPlan(f, func(c *federated.PSGM) {
		c.Local = federated.Local{Steps: 3, Batch: 4, Clip: 1, Noise: 2}
	})
	silos, _ := newRecords(f, p)
	r := p.First()
	files := answers(f, p, r, silos, always(1))
	local := *r
	local.Local = &LocalRequest{Silo: 0, Direction: r.Model, Keep: -1}
	f.Add(files[0])
	f.Add(shuffle(f, p, r, files, newBook(f)))
	f.Add(must.Get(p.Encode())(f))
	f.Add(must.Get(r.Encode())(f))
	f.Add(must.Get(local.Encode())(f))
	f.Add(must.Get(p.Answer(f.Context(), &local, 0, silos[0], stream.Seeded(1)))(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := p.NewShuffle(r); err != nil {
			t.Fatal(err)
		} else if silo, err := s.Add(t.Context(), b); err == nil && len(s.Missing()) != 2 {
			t.Errorf("silo %d is in, but %v are missing", silo, s.Missing())
		}
		if next, err := p.ReadRound(b); err == nil {
			if again, err := p.ReadRound(must.Get(next.Encode())(t)); err != nil ||
				p.Question(again) != p.Question(next) {
				t.Errorf("a round does not read back: %v", err)
			}
		}
		if _, err := p.Aggregate(t.Context(), r, b); err == nil && len(b) < headSize+24+75*9 {
			t.Error("a round of too few reports is aggregated")
		}
		_, _ = p.Accept(&local, b)
		if len(b) < 4096 { // what prices a plan takes its time
			_, _ = ReadPlan(b)
		}
	})
}

// A plan file keeps what its price is without: drop-outs and colluders.
func TestColludersArePriced(t *testing.T) {
	price := func(missing, colluding int) float64 {
		p := newPlan(t, func(c *federated.PSGM) {
			c.Missing, c.Colluding, c.Epsilon, c.Account = missing, colluding, 0.5, ""
		})
		return p.Price().Cost.Epsilon
	}
	if both, missing := price(25, 10), price(25, 0); both <= missing*1.05 || both != price(35, 0) {
		t.Errorf("25 drop-outs and 10 colluders cost %g, the drop-outs alone %g", both, missing)
	}
}

// Everything that the price depends on is in the file: a plan costs what its method costs.
func TestPlanCostsWhatItsMethodCosts(t *testing.T) {
	for name, change := range map[string]func(*federated.PSGM){
		"all": func(*federated.PSGM) {}, "missing": func(c *federated.PSGM) { c.Missing = 25 },
		"colluding": func(c *federated.PSGM) { c.Colluding = 25 },
		"batches":   func(c *federated.PSGM) { c.FirstBatch, c.Batch = []int{10}, []int{5} },
		"local": func(c *federated.PSGM) {
			c.Local = federated.Local{Steps: 3, Batch: 4, Clip: 1, Noise: 2}
		},
	} {
		var method federated.PSGM
		p := newPlan(t, func(c *federated.PSGM) { c.Account = ""; change(c); method = *c })
		want := must.Get(method.New(75, features+1))(t).Price().Cost
		if got := must.Get(ReadPlan(must.Get(p.Encode())(t)))(t).Cost(); math.Abs(got.Epsilon-
			want.Epsilon) > 1e-9*want.Epsilon || got.Delta != want.Delta {
			t.Errorf("%s: the plan costs %v, the method %v", name, got, want)
		}
	}
}
