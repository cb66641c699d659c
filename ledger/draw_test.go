package ledger

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
)

// drawn is a request for an answer to a draw of ensemble "e", which pays for itself.
func drawn(id, draw string, votes byte) Request {
	return Request{Relation: ReplaceOne, ID: id, Count: 1, Unit: unitOfOne, Ensemble: "e",
		Draw: newDraw("e", draw, int(votes))}
}

// newDraw is a draw with one row of votes, under a key of the tests.
func newDraw(ensemble, name string, votes int) *Draw {
	h := newVoteHash(secret{1})
	h.Add([]int{votes})
	return h.Draw(ensemble, name)
}

// named is the draw of the same votes under another name.
func (d *Draw) named(ensemble, name string) *Draw {
	out := d.cast.hash().Draw(ensemble, name)
	out.Covers, out.CastAnew = d.Covers, d.CastAnew
	return out
}

func covering(id, draw string, votes byte) Request {
	r := drawn(id, draw, votes)
	r.Draw.Covers = true
	return r
}

func paidBy(payer string, r Request) Request {
	r.Unit, r.PaidBy = Cost{}, payer
	return r
}

// anew states that the votes were cast anew.
func anew(r Request) Request {
	d := *r.Draw
	d.CastAnew = true
	r.Draw = &d
	return r
}

// query makes the draw one query on line.
func query(r Request) Request {
	r.Draw = &Draw{Name: r.Draw.Name, Votes: r.Draw.Votes, Query: true}
	return r
}

func undrawn(r Request) Request {
	r.Draw = nil
	return r
}

func of(ensemble string, r Request) Request {
	r.Ensemble = ensemble
	if r.Draw != nil {
		r.Draw = r.Draw.named(ensemble, r.Draw.Name)
	}
	return r
}

func teachers(digest string, r Request) Request {
	r.EnsembleDigest = digest
	return r
}

// Each rule, as it is seen by one request after others: by a charge, by a look, by the
// last of several in one call, and by who reads a file in which somebody wrote the same
// entries past the rules.
func TestRules(t *testing.T) {
	empty := readFiles(t, create(t, 10, 0).Path())
	first := drawn("a", "march", 1)
	cover := covering("c", "march", 1)
	for _, c := range []struct {
		name   string
		before []Request
		last   Request
		want   error
	}{
		// Other votes under the name of a draw.
		{"the same votes are not others", []Request{first, cover}, paidBy("c", drawn("b", "march", 1)),
			nil},
		{"other votes of an answered draw", []Request{first}, covering("c", "march", 2), ErrDraw},
		{"other votes of a covered draw", []Request{cover}, covering("d", "march", 2), ErrDraw},
		{"other votes, stated", []Request{first}, anew(covering("c", "march", 2)), ErrDraw},
		{"other votes, paid by the cover", []Request{cover}, paidBy("c", drawn("b", "march", 2)),
			ErrDraw},
		{"another ensemble has names of its own", []Request{first}, of("f", drawn("b", "march", 2)), nil},
		{"names do not run together", []Request{of("e", drawn("a", "xy", 1))},
			of("ex", drawn("b", "y", 2)), nil},

		// A second answer that pays for itself.
		{"another draw", []Request{first}, drawn("b", "april", 2), nil},
		{"answered", []Request{first}, drawn("b", "march", 1), ErrDrawn},
		{"answered, stated", []Request{first}, anew(drawn("b", "march", 1)), ErrDrawn},
		{"covered", []Request{cover}, drawn("b", "march", 1), ErrDrawn},
		{"answered where teachers have no name", []Request{of("", first)}, of("", drawn("b", "march", 1)),
			ErrDrawn},
		{"covered after an answer", []Request{first}, cover, nil},

		// Who pays for an answer to a draw.
		{"paid by the cover", []Request{cover}, paidBy("c", drawn("b", "march", 1)), nil},
		{"paid by nobody", []Request{first}, paidBy("c", drawn("b", "march", 1)), ErrUnpaid},
		{"paid by the first answer", []Request{first}, paidBy("a", drawn("b", "march", 1)), ErrUnpaid},
		{"paid by a paid answer", []Request{cover, paidBy("c", drawn("b", "march", 1))},
			paidBy("b", drawn("d", "march", 1)), ErrUnpaid},
		{"paid by the cover of another draw", []Request{covering("c", "april", 2)},
			paidBy("c", drawn("b", "march", 1)), ErrUnpaid},
		{"paid by the cover of another draw of the same votes", []Request{covering("c", "april", 1)},
			paidBy("c", anew(drawn("b", "march", 1))), ErrUnpaid},
		{"paid by the cover of other votes", []Request{covering("c", "april", 2), drawn("a", "march", 1)},
			paidBy("c", anew(drawn("b", "april", 1))), ErrDraw},
		{"paid by the cover of another ensemble", []Request{of("f", cover)},
			paidBy("c", anew(drawn("b", "march", 1))), ErrUnpaid},
		{"paid by a training", []Request{undrawn(first)}, paidBy("a", drawn("b", "march", 1)), ErrUnpaid},
		{"frozen, paid by a training", []Request{undrawn(first)}, paidBy("a", undrawn(drawn("b", "", 0))),
			nil},
		{"frozen, paid by a cover", []Request{cover}, paidBy("c", undrawn(drawn("b", "", 0))), ErrUnpaid},
		{"frozen, paid by an answer", []Request{first}, paidBy("a", undrawn(drawn("b", "", 0))),
			ErrUnpaid},
		{"frozen, paid by another training", []Request{of("f", undrawn(first))},
			paidBy("a", undrawn(drawn("b", "", 0))), ErrUnpaid},

		{"paid by a training of teachers without a name", []Request{of("", undrawn(first))},
			paidBy("a", undrawn(drawn("b", "", 0))), ErrUnpaid},
		{"teachers without a name, paid by a training", []Request{undrawn(first)},
			paidBy("a", of("", undrawn(drawn("b", "", 0)))), ErrUnpaid},

		// Who pays for an answer of a table.
		{"taken", []Request{opening("q", 1, 2)}, taking("q", "b", 1, 2), nil},
		{"too many taken", []Request{opening("q", 1, 2)}, taking("q", "b", 1, 3), ErrAnswers},
		{"nothing left", []Request{opening("q", 1, 2), taking("q", "a", 1, 2)}, taking("q", "b", 1, 1),
			ErrAnswers},
		{"one left of another quota", []Request{opening("q", 1, 2), opening("p", 1, 3),
			taking("q", "a", 1, 2)}, taking("p", "b", 1, 3), nil},
		{"another table", []Request{opening("q", 1, 2)}, taking("q", "b", 2, 1), ErrUnpaid},
		{"no table", []Request{opening("q", 1, 2)}, paidBy("q", undrawn(of("", drawn("b", "", 0)))),
			ErrUnpaid},
		{"taken of nobody", nil, taking("q", "b", 1, 1), ErrUnpaid},
		{"taken of a training", []Request{undrawn(of("", first))}, taking("a", "b", 1, 1), ErrUnpaid},
		{"taken of an answer", []Request{opening("q", 1, 2), taking("q", "a", 1, 1)},
			taking("a", "b", 1, 1), ErrUnpaid},
		{"taken of a cover", []Request{of("", cover)}, taking("c", "b", 1, 1), ErrUnpaid},
		{"taken of another ensemble", []Request{of("f", opening("q", 1, 2))}, taking("q", "b", 1, 1),
			ErrUnpaid},
		{"a quota pays for a draw", []Request{opening("q", 1, 2)},
			paidBy("q", of("", drawn("b", "march", 1))), ErrUnpaid},

		// Equal votes under two names.
		{"equal votes", []Request{first}, drawn("b", "april", 1), ErrSameVotes},
		{"equal votes of a covered draw", []Request{cover}, drawn("b", "april", 1), ErrSameVotes},
		{"equal votes of another ensemble", []Request{of("f", first)}, drawn("b", "march", 1),
			ErrSameVotes},
		{"equal votes of that name, of another ensemble, cast anew", []Request{of("f", first)},
			anew(drawn("b", "march", 1)), nil},
		{"equal votes of that name, covering", []Request{of("f", first)}, covering("c", "march", 1),
			ErrSameVotes},
		{"equal votes of another draw than the first", []Request{drawn("z", "may", 2), first},
			drawn("b", "april", 1), ErrSameVotes},
		{"equal votes of a query", []Request{query(first)}, drawn("b", "april", 1), nil},
		{"a query with equal votes", []Request{first}, query(drawn("b", "april", 1)), nil},
		{"equal votes, covering", []Request{first}, covering("c", "april", 1), ErrSameVotes},
		{"equal votes, cast anew", []Request{first}, anew(drawn("b", "april", 1)), nil},
		{"equal votes of another ensemble, cast anew", []Request{of("f", first)},
			anew(drawn("b", "april", 1)), nil},
		{"equal votes, cast anew for a draw that is there",
			[]Request{first, anew(drawn("b", "april", 1))}, covering("c", "april", 1), nil},
		{"equal votes of two draws, and a third", []Request{first, anew(drawn("b", "april", 1))},
			drawn("c", "may", 1), ErrSameVotes},
		{"the first of two with equal votes", []Request{first, anew(drawn("b", "april", 1))}, cover, nil},

		// The digest of an ensemble.
		{"a digest for the first time", []Request{undrawn(first)},
			teachers("v1", undrawn(drawn("b", "", 0))), nil},
		{"the same digest", []Request{teachers("v1", first)}, teachers("v1", cover), nil},
		{"another digest", []Request{teachers("v1", first)}, teachers("v2", cover), ErrEnsemble},
		{"no digest any more", []Request{teachers("v1", first)}, cover, ErrEnsemble},
		{"a digest stated second, then another", []Request{first, teachers("v1", cover)},
			teachers("v2", paidBy("c", drawn("b", "march", 1))), ErrEnsemble},
		{"another ensemble has no digest", []Request{teachers("v1", first)},
			of("f", drawn("b", "march", 2)), nil},
		{"no ensemble has no digest", []Request{teachers("v1", first)},
			of("", undrawn(drawn("b", "", 0))), nil},

		// The relation.
		{"no relation", nil, Request{ID: "b", Count: 1, Unit: unitOfOne}, ErrRelation},
		{"another relation", nil, Request{Relation: AddOrRemoveOne, ID: "b", Count: 1, Unit: unitOfOne},
			ErrRelation},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, once := opened(t, empty), opened(t, empty)
			for _, r := range c.before {
				mustCharge(t, l, r)
			}
			before := readFiles(t, l.Path())
			dry := l.Check(t.Context(), c.last)
			receipt, err := l.Charge(t.Context(), c.last)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) ||
				(receipt == nil) != (err != nil) {
				t.Fatalf("charge: %v, want %v", err, c.want)
			}
			if errText(dry) != errText(err) {
				t.Errorf("check: %v, charge: %v", dry, err)
			}
			if _, err := once.ChargeAll(t.Context(), append(c.before[:len(c.before):len(c.before)],
				c.last)); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("in one call: %v, want %v", err, c.want)
			}
			for _, l := range []*Ledger{l, once} {
				if err := l.Verify(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if c.want == nil {
				return
			}
			if !errors.Is(err, ErrRefused) {
				t.Errorf("%v is not an ErrRefused", err)
			}
			if !reflect.DeepEqual(readFiles(t, l.Path()), before) {
				t.Error("what was refused changed the files")
			}
			r, err := c.last.checked()
			if err != nil {
				t.Fatal(err)
			}
			// Whether votes are equal nobody can read in a file; writeUnchecked puts in the right relation.
			if c.want != ErrSameVotes && (c.want != ErrRelation || r.Relation != 0) {
				forged := opened(t, before)
				writeUnchecked(t, forged, r.entry(Entry{}))
				if _, err := Open(t.Context(), forged.Path()); !errors.Is(err, ErrDamaged) {
					t.Errorf("in a file: %v, want %v", err, ErrDamaged)
				}
			}
		})
	}
}

// opened is a ledger with the files of another.
func opened(t *testing.T, f files) *Ledger {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	f.write(t, path)
	l, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// What is asked again is recognised before the rules for draws, and after the digest of
// the ensemble. What makes it another request is a conflict.
func TestReplayOfDraw(t *testing.T) {
	l := create(t, 10, 0)
	first := teachers("v1", drawn("a", "march", 1))
	mustCharge(t, l, of("old", undrawn(drawn("untold", "", 0))))
	mustCharge(t, l, first)
	mustCharge(t, l, teachers("v1", covering("c", "march", 1)))
	mustCharge(t, l, teachers("v1", paidBy("c", drawn("b", "march", 1))))
	mustCharge(t, l, teachers("v1", anew(drawn("d", "april", 1))))
	for name, c := range map[string]struct {
		r    Request
		want error
	}{
		"the same":            {first, ErrReplayed},
		"the same, cast anew": {anew(first), ErrReplayed},
		"paid by the cover": {teachers("v1", paidBy("c", drawn("b", "march", 1))),
			ErrReplayed},
		"the cover":                     {teachers("v1", covering("c", "march", 1)), ErrReplayed},
		"votes cast anew, not said now": {teachers("v1", drawn("d", "april", 1)), ErrReplayed},
		"a digest that was not told": {of("old", teachers("v1", undrawn(drawn("untold", "", 0)))),
			ErrReplayed},
		"another digest": {teachers("v2", first), ErrEnsemble},
		"no digest":      {drawn("a", "march", 1), ErrEnsemble},
		"another relation": {func() Request {
			r := first
			r.Relation = AddOrRemoveOne
			return r
		}(), ErrRelation},
	} {
		if _, err := l.Charge(t.Context(), c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for what, r := range map[string]Request{
		"series of votes": teachers("v1", drawn("a", "march", 2)),
		"draw":            teachers("v1", drawn("a", "april", 1)),
		"ensemble":        of("f", first),
	} {
		_, err := l.Charge(t.Context(), r)
		var conflict *ConflictError
		if !errors.As(err, &conflict) || conflict.What != what {
			t.Errorf("another %s: %v", what, err)
		}
	}
	for _, r := range []Request{teachers("v1", covering("a", "march", 1)),
		teachers("v1", undrawn(drawn("a", "", 0)))} {
		_, err := l.Charge(t.Context(), r)
		var conflict *ConflictError
		if !errors.As(err, &conflict) || conflict.What != "draw" {
			t.Errorf("%+v: %v", r, err)
		}
	}
	// A request that differs in its draw and in its event gets a conflict about the draw: a
	// conflict about the event implies that all else is the same.
	r := teachers("v1", drawn("a", "march", 2))
	r.Event = []byte("1")
	var conflict *ConflictError
	if _, err := l.Charge(t.Context(), r); !errors.As(err, &conflict) || conflict.What == "event" {
		t.Errorf("another event and other votes: %v", err)
	}
}

// checkDrawn compares the ids of what Drawn returns, "" for nothing.
func checkDrawn(t *testing.T, l *Ledger, ensemble, name, wantFirst, wantCover string) {
	t.Helper()
	first, cover, err := l.Drawn(t.Context(), ensemble, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		got  *Entry
		want string
	}{{"first answer", first, wantFirst}, {"cover", cover, wantCover}} {
		if (c.got != nil) != (c.want != "") || c.got != nil && c.got.ID != c.want {
			t.Errorf("draw %q of %q: %s %+v, want %q", name, ensemble, c.what, c.got, c.want)
		}
	}
}

// The errors name the draw and the request that stand in the way. The entry of votes that were cast
// anew says nothing of the draw that they equal.
func TestDrawErrors(t *testing.T) {
	l := create(t, 10, 0)
	mustCharge(t, l, drawn("a", "march", 1))
	checkDrawn(t, l, "e", "march", "a", "")
	if _, err := l.Charge(t.Context(), drawn("b", "march", 1)); !errors.Is(err, ErrDrawn) ||
		!strings.Contains(err.Error(), `draw "march" of ensemble "e" was answered by the request "a"`) {
		t.Errorf("answered: %v", err)
	}
	mustCharge(t, l, covering("c", "march", 1))
	if _, err := l.Charge(t.Context(), drawn("b", "march", 1)); !errors.Is(err, ErrDrawn) ||
		!strings.Contains(err.Error(), `draw "march" of ensemble "e" is covered by the charge "c"`) {
		t.Errorf("covered: %v", err)
	}
	mustCharge(t, l, covering("c2", "march", 1)) // pays once more, and is no harm
	for _, c := range [][4]string{{"e", "march", "a", "c"}, {"e", "april", "", ""},
		{"", "march", "", ""}, {"f", "march", "", ""}} {
		checkDrawn(t, l, c[0], c[1], c[2], c[3])
	}
	if _, err := l.Charge(t.Context(), of("f", drawn("b", "april", 1))); !errors.Is(err, ErrSameVotes) ||
		!strings.Contains(err.Error(), `draw "march" of ensemble "e" has the same votes`) {
		t.Errorf("equal votes: %v", err)
	}
	mustCharge(t, l, of("f", anew(drawn("b", "april", 1))))
	l, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	entries, err := l.History(t.Context())
	if err != nil || len(entries) != 4 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if e := entries[3]; e.Ensemble != "f" || *e.Draw !=
		(Draw{Name: "april", Votes: newDraw("f", "april", 1).Votes}) ||
		e.Draw.Votes == entries[0].Draw.Votes {
		t.Errorf("%+v", e)
	}
}

func TestDrawRefused(t *testing.T) {
	l := create(t, 10, 0)
	for name, r := range map[string]Request{
		"no name":         drawn("a", "", 1),
		"control in name": drawn("a", "x\n", 1),
		"long name":       drawn("a", strings.Repeat("x", MaxID+1), 1),
		"no votes": {Relation: ReplaceOne, ID: "a", Count: 1, Unit: unitOfOne,
			Draw: &Draw{Name: "march", Query: true}},
		"votes of another name": func() Request {
			r := drawn("a", "march", 1)
			r.Draw.Name = "april"
			return r
		}(),
		"another ensemble's": func() Request {
			r := drawn("a", "march", 1)
			r.Ensemble = "f"
			return r
		}(),
		"a digest alone": {Relation: ReplaceOne, ID: "a", Count: 1, Unit: unitOfOne,
			Draw: &Draw{Name: "march", Votes: Digest{1}}},
		"a digest cast anew": {Relation: ReplaceOne, ID: "a", Count: 1, Unit: unitOfOne,
			Draw: &Draw{Name: "march", Votes: Digest{1}, CastAnew: true}},
		"a cover that is paid": paidBy("b", covering("a", "march", 1)),
		"a free cover": func() Request {
			r := covering("a", "march", 1)
			r.Unit = Cost{}
			return r
		}(),
		"control in ensemble":    of("\x1b", drawn("a", "march", 1)),
		"control in digest":      teachers("\u202e", drawn("a", "march", 1)),
		"long digest":            teachers(strings.Repeat("x", MaxID+1), drawn("a", "march", 1)),
		"digest of no ensemble":  of("", teachers("v1", drawn("a", "march", 1))),
		"a relation of its kind": {Relation: accountant.BlankOne, ID: "a", Count: 1, Unit: unitOfOne},
	} {
		if _, err := l.Charge(t.Context(), r); err == nil || errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	mustSpend(t, l, Cost{})
	long := strings.Repeat("x", MaxID)
	mustCharge(t, l, teachers(long, of(long, drawn(long, long, 1))))
	if _, err := Open(t.Context(), l.Path()); err != nil {
		t.Error(err)
	}
}

// A caller who changes his draw while it is charged changes nothing that is checked.
func TestDrawIsCopied(t *testing.T) {
	r := drawn("a", "march", 1)
	checked, err := checkAll([]Request{r})
	if err != nil {
		t.Fatal(err)
	}
	r.Draw.Votes = Digest{2}
	if checked[0].Draw.Votes != newDraw("e", "march", 1).Votes {
		t.Error("the draw is shared")
	}
}

// Entries of another relation, which no request could have made.
func TestForgedRelation(t *testing.T) {
	l := create(t, 10, 0)
	mustCharge(t, l, drawn("a", "march", 1))
	other, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	e := entryOf(t, drawn("b", "april", 2))
	e.Relation = AddOrRemoveOne
	writeUnchecked(t, l, e)
	if _, err := Open(t.Context(), l.Path()); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if _, err := other.Spent(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("seen by an open handle: %v", err)
	}
}

func entryOf(t *testing.T, r Request) Entry {
	t.Helper()
	r, err := r.checked()
	if err != nil {
		t.Fatal(err)
	}
	return r.entry(Entry{})
}

func TestRelation(t *testing.T) {
	budget, err := NewBudget(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Relation{0, accountant.BlankOne, -1, 9} {
		path := t.TempDir() + "/ledger"
		if _, err := Create(t.Context(), path, budget, bad); err == nil {
			t.Errorf("neighbours = %v: no error", bad)
		}
	}
	for _, r := range []Relation{ReplaceOne, AddOrRemoveOne} {
		l, err := Create(t.Context(), t.TempDir()+"/ledger", budget, r)
		if err != nil {
			t.Fatal(err)
		}
		mustCharge(t, l, Request{Relation: r, ID: "a", Count: 1, Unit: mustCost(t, 0.1, 0)})
		if l, err = Open(t.Context(), l.Path()); err != nil || l.Relation() != r {
			t.Errorf("%v, %v", l.Relation(), err)
		}
		for _, other := range []Relation{0, ReplaceOne, AddOrRemoveOne} {
			// Also of a request that was charged before, and of one among others.
			if _, err := l.Charge(t.Context(), Request{Relation: other, ID: "a", Count: 1,
				Unit: mustCost(t, 0.1, 0)}); other != r && !errors.Is(err, ErrRelation) {
				t.Errorf("neighbours = %v in a ledger for %v: %v", other, r, err)
			}
		}
		mustSpend(t, l, mustCost(t, 0.1, 0))
	}
}

// Two keys with one hash are two.
func TestOneHash(t *testing.T) {
	b := newBook()
	a, c := &located{Entry: Entry{Seq: 1, ID: "a"}}, &located{Entry: Entry{Seq: 2, ID: "c"}}
	b.add(a)
	_, at, hash := b.find(key{byID, "", "c"})
	b.table[at] = place{hash, 1} // as if the hash of "c" were that of "a"
	if b.first(key{byID, "", "c"}) != nil {
		t.Error("one that was not added is there")
	}
	b.add(c)
	for _, want := range []*located{a, c} {
		if got := b.first(key{byID, "", want.ID}); got == nil || got.Seq != want.Seq {
			t.Errorf("%q: %+v", want.ID, got)
		}
	}
}
