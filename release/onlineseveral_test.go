package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// onlineSeveral answers questions with four labels to three teachers, of whom a record reaches one and who say
// yes to at most one label: a question is two answers of ε each. One charge pays for so many questions, or,
// of 0, each for itself.
func onlineSeveral(t testing.TB, epsilon float64, questions int, several ensemble.Several) (*Online, *ledger.Ledger) {
	t.Helper()
	reach := 1
	m := must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: 3, Classes: 2, Affected: reach,
		Neighbours: accountant.ReplaceOne}, epsilon))(t)
	plan := must.Get(NewPlan(m))(t)
	if questions > 0 {
		plan = must.Get(plan.ForLabels(questions*several.PerQuestion(reach), new(0.0)))(t)
	}
	book := newLedger(t, 1e4)
	return openOnline(t, OnlineOptions{Plan: plan, Several: several, Stated: saidOf(plan), Missing: votes.MissingNo,
		Charge: Charge{Ledger: book.Path(), AcceptWeak: true, Slack: new(0.0)}, Key: filepath.Join(t.TempDir(), "key")}), book
}

var fourLabels = ensemble.Several{Labels: 4, MostYes: 1}

// A request about a question takes r of the quota, whichever of its labels are asked, and two requests about
// the same question are two: the charge ends after its questions, not after its labels.
func TestOnlineQuestionTakesOfTheQuotaWhateverIsAsked(t *testing.T) {
	const questions = 6
	random := rand.New(rand.NewPCG(1, 2))
	for most := range 5 {
		several := ensemble.Several{Labels: 4, MostYes: most}
		r := uint64(several.PerQuestion(1))
		o, book := onlineSeveral(t, .1, questions, several)
		for i := range questions + 1 {
			asked := random.Perm(4)[:1+random.IntN(4)]
			if i == 0 {
				asked = nil
			}
			a, err := o.Answer(t.Context(), Query{ID: fmt.Sprint("q", i), Sets: [][]int{{0}, {1, 0}, {}}, Asked: asked})
			if i == questions {
				var quota *ledger.QuotaError
				if !errors.As(err, &quota) {
					t.Errorf("τ = %d: a question beyond the last is answered: %v, %v", most, a, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := len(asked); asked != nil && len(a.Classes) != want || asked == nil && len(a.Classes) != 4 ||
				a.Charge.Count != r {
				t.Errorf("asked %v of r = %d: %+v", asked, r, a)
			}
			if use := must.Get(book.Quotas(t.Context()))(t); len(use) != 1 || use[0].Taken != uint64(i+1)*r ||
				use[0].Charge.Quota.Answers != questions*r {
				t.Errorf("after %d questions of r = %d: %+v", i+1, r, use)
			}
		}
	}
}

// Without a charge for all a question pays for r answers, and its entry states L and τ.
func TestOnlineQuestionPaysForItself(t *testing.T) {
	for _, asked := range [][]int{nil, {2}} {
		o, book := onlineSeveral(t, .5, 0, fourLabels)
		a := mustAnswer(t, o, Query{ID: "q", Sets: [][]int{{0}, {1}, nil}, Asked: asked})
		var event Event
		if err := json.Unmarshal(a.Charge.Event, &event); err != nil || event.Queries != 2 || event.Several == nil ||
			*event.Several != fourLabels {
			t.Errorf("%s, %v", a.Charge.Event, err)
		}
		if spent := must.Get(book.State(t.Context()))(t).Spent; spent != must.Get(ledger.NewCost(1, 0))(t) || o.Unit() != spent {
			t.Errorf("a question of two answers at 0.5 costs %v", spent)
		}
	}
}

// Of each teacher the first τ labels are counted, by their order: with next to no noise the answers are those
// of the counts.
func TestOnlineSetsAreCut(t *testing.T) {
	sure := 200.0
	all := [][]int{{3, 1}, {1, 3}, {3}}
	for most, want := range map[int][]int{1: {0, 1, 0, 0}, 2: {0, 1, 0, 1}, 0: {0, 1, 0, 1}} {
		o, _ := onlineSeveral(t, sure, 0, ensemble.Several{Labels: 4, MostYes: most})
		a := mustAnswer(t, o, Query{ID: "q", Sets: all})
		if !slices.Equal(a.Classes, want) || !slices.Equal(a.Asked, []int{0, 1, 2, 3}) || a.Class != ensemble.Abstained {
			t.Errorf("τ = %d: %+v, want %v", most, a, want)
		}
		a = mustAnswer(t, o, Query{ID: "some", Sets: all, Asked: []int{3, 1}})
		if some := []int{want[1], want[3]}; !slices.Equal(a.Classes, some) || !slices.Equal(a.Asked, []int{1, 3}) {
			t.Errorf("τ = %d: %+v, want %v", most, a, some)
		}
		if !slices.Equal(all[0], []int{3, 1}) {
			t.Error("the votes of the caller are sorted")
		}
	}
}

// The same request has the same labels for ever, in whatever order its sets are; other votes and other labels
// of the same id are refused, and cost nothing.
func TestOnlineQuestionIsRepeated(t *testing.T) {
	o, book := onlineSeveral(t, .1, 100, fourLabels)
	key := strings.Repeat("7", 32)
	q := Query{ID: "q", ReplayKey: key, Sets: [][]int{{1, 0}, {2}, nil}}
	first := mustAnswer(t, o, q)
	same := q
	same.Sets, same.Asked = [][]int{{0, 1}, {2}, {}}, []int{3, 2, 1, 0}
	if again := mustAnswer(t, o, same); !again.Replayed || !slices.Equal(again.Classes, first.Classes) {
		t.Errorf("%+v, first %+v", again, first)
	}
	for name, other := range map[string]Query{
		"fewer labels": {Sets: q.Sets, Asked: []int{0, 1, 2}},
		"other votes":  {Sets: [][]int{{1}, {2}, nil}},
	} {
		if other.ID, other.ReplayKey = "q", key; true {
			if _, err := o.Answer(t.Context(), other); !errors.Is(err, ledger.ErrConflict) {
				t.Errorf("%s under the same id: %v", name, err)
			}
		}
	}
	checkQuotas(t, "one question", book, 20, 2)
	// labels have coins of their own, and so have questions
	seen := make(map[string]bool)
	for i := range 40 {
		seen[fmt.Sprint(mustAnswer(t, o, Query{ID: fmt.Sprint("other", i), Sets: [][]int{{0}, {1}, {2}}}).Classes)] = true
	}
	if len(seen) < 8 { // of 16, each with a probability above 1/40: fewer in one of 10⁹ runs
		t.Errorf("40 questions have the answers %v", seen)
	}
}

// A batch takes r answers for each of its questions and has all their labels, the same when it is asked for
// again and others for another name; a question beyond the last is refused before any is drawn.
func TestBatchOfQuestions(t *testing.T) {
	for most, want := range map[int][]int{1: {0, 1, 0, 0}, 2: {0, 1, 0, 1}} { // with next to no noise: see TestOnlineSetsAreCut
		several := ensemble.Several{Labels: 4, MostYes: most}
		o, book := onlineSeveral(t, 200, 0, several)
		a := mustBatch(t, o, Batch{Name: "a", Sets: [][][]int{{{3, 1}, {1, 3}, {3}}, {{}, {}, nil}}})
		if len(a.Sets) != 2 || !slices.Equal(a.Sets[0], want) || !slices.Equal(a.Sets[1], []int{0, 0, 0, 0}) || a.Labels != nil ||
			a.Cost.Epsilon != 400*float64(several.PerQuestion(1)) {
			t.Errorf("τ = %d: %+v, want %v", most, a, want)
		}
		if spent := must.Get(book.State(t.Context()))(t).Spent; spent != must.Get(ledger.NewCost(float64(400*several.PerQuestion(1)), 0))(t) {
			t.Errorf("τ = %d: two questions cost %v", most, spent)
		}
	}
	o, book := onlineSeveral(t, .1, 40, fourLabels)
	even := slices.Repeat([][][]int{{{0}, {1}, {2}}}, 35)
	first := mustBatch(t, o, Batch{Name: "a", Sets: even})
	shuffled := slices.Clone(even)
	shuffled[3] = [][]int{{0}, {1}, {2}}
	if again := mustBatch(t, o, Batch{Name: "a", Sets: shuffled}); !again.Replayed || !reflect.DeepEqual(again.Sets, first.Sets) {
		t.Errorf("%+v, first %+v", again, first)
	}
	mustBatch(t, o, Batch{Name: "b", Sets: even[:3]})
	seen := make(map[string]bool)
	for _, set := range first.Sets {
		seen[fmt.Sprint(set)] = true
	}
	if len(seen) < 5 { // of 16, each with a probability above 1/40: questions and labels have coins of their own
		t.Errorf("35 questions have the answers %v", seen)
	}
	checkQuotas(t, "38 questions", book, 8, 76)
	var input *InputError
	shuffled[3] = [][]int{{0}, {1}, {}}
	if _, err := o.Batch(t.Context(), Batch{Name: "a", Sets: shuffled}); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("other votes under the same name: %v", err)
	}
	if _, err := o.Batch(t.Context(), Batch{Name: "c", Sets: even[:3]}); !errors.Is(err, ledger.ErrAnswers) {
		t.Errorf("a question beyond the last: %v", err)
	}
	if _, err := o.Batch(t.Context(), Batch{Name: "d", Sets: slices.Repeat(even, 2)}); !errors.As(err, &input) {
		t.Errorf("more questions than one charge pays for: %v", err)
	}
	checkQuotas(t, "38 questions", book, 8, 76)
}

// What is no set of labels of a question is refused before anything is charged, without quoting it.
func TestOnlineSetsRefused(t *testing.T) {
	o, book := onlineSeveral(t, .1, 5, fourLabels)
	for name, q := range map[string]Query{
		"votes":         {Votes: []int{0, 1, 1}},
		"counts":        {Counts: []int{1, 2}},
		"no votes":      {},
		"few teachers":  {Sets: [][]int{{0}, {1}}},
		"longer than L": {Sets: [][]int{{0, 1, 2, 3, 0}, {}, {}}},
		"label 4":       {Sets: [][]int{{4}, {}, {}}},
		"label -1":      {Sets: [][]int{{-1}, {}, {}}},
		"twice":         {Sets: [][]int{{2, 2}, {}, {}}},
		"nothing asked": {Sets: [][]int{{2}, {}, {}}, Asked: []int{}},
		"asked twice":   {Sets: [][]int{{2}, {}, {}}, Asked: []int{1, 1}},
		"asked 4":       {Sets: [][]int{{2}, {}, {}}, Asked: []int{4}},
	} {
		q.ID = "q"
		var input *InputError
		if _, err := o.Answer(t.Context(), q); !errors.As(err, &input) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var input *InputError
	for name, b := range map[string]Batch{
		"of classes":      {Counts: [][]int{{1, 2}}},
		"of no questions": {Sets: [][][]int{}},
		"of both":         {Sets: [][][]int{{{}, {}, {}}}, Votes: [][]int{}},
		"a missing vote":  {Sets: [][][]int{{{0}, {}, {1}}, {{0}, {}, nil, {}}}},
		"label 4":         {Sets: [][][]int{{{0}, {}, {1}}, {{4}, {}, {}}}},
	} {
		b.Name = "b"
		if _, err := o.Batch(t.Context(), b); !errors.As(err, &input) {
			t.Errorf("a batch %s: %v", name, err)
		}
	}
	checkQuotas(t, "nothing", book, 0)
	plain, _ := newOnline(t, together(t, 10), Charge{}, 10)
	if _, err := plain.Answer(t.Context(), Query{ID: "q", Sets: [][]int{{0}, {1}, {}}}); !errors.As(err, &input) {
		t.Errorf("sets where a query is one label: %v", err)
	}
	// a missing vote is refused unless it counts as no
	options := o.options
	options.Missing, options.Book = votes.MissingError, nil
	strict := openOnline(t, options)
	if _, err := strict.Answer(t.Context(), Query{ID: "q", Sets: [][]int{{0}, nil, {}}}); !errors.As(err, &input) {
		t.Errorf("a missing vote: %v", err)
	}
	options.Statement = &Statement{K: 3, Classes: 2, Affected: 1, Labels: 5}
	var usage *UsageError
	if _, err := OpenOnline(t.Context(), options); !errors.As(err, &usage) {
		t.Errorf("a statement of other labels: %v", err)
	}
}

// A server takes labels of the charge that files take of, and of no other: the statement has L and τ, and a
// charge with too little left for a whole question is passed over.
func TestOnlineQuestionsOfAFilesCharge(t *testing.T) {
	l, book := questions(t, 3)
	s := must.Get(l.Run(t.Context()))(t)
	several := ensemble.Several{Labels: 3, MostYes: 1}
	said := *l.Stated
	said.K, said.Classes, said.Labels, said.Several = 3, 2, 4, &several
	options := OnlineOptions{Statement: &said, Several: several, Stated: saidOf(s.Plan), Missing: votes.MissingNo,
		Charge: Charge{Ledger: book.Path(), AcceptWeak: true}, Key: filepath.Join(t.TempDir(), "key")}
	o := openOnline(t, options) // without a plan: the charge has it
	mustAnswer(t, o, Query{ID: "q", Sets: [][]int{{0}, {1}, {}}, Asked: []int{1}})
	checkQuotas(t, "files and a request", book, .8, 8)
	if _, err := o.Answer(t.Context(), Query{ID: "r", Sets: [][]int{{0}, {1}, {}}, Asked: []int{1}}); !errors.Is(err, ledger.ErrAnswers) {
		t.Errorf("a question beyond the last: %v", err)
	}
	other := said
	other.Several = &ensemble.Several{Labels: 3, MostYes: 2}
	options.Statement, options.Several = &other, *other.Several
	if _, err := OpenOnline(t.Context(), options); err == nil {
		t.Error("another τ takes of the charge")
	}
}
