package release

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/votes"
)

// summaryOf returns the facts of a summary, one line per title.
func summaryOf(t *testing.T, s Summary) (titles []string, text string) {
	t.Helper()
	for _, fact := range s.Facts() {
		if fact.Title != "" {
			titles = append(titles, fact.Title)
			text += "\n" + fact.Title
		}
		text += " " + fact.Text
	}
	return titles, text
}

func newSummary(t *testing.T, r Plan, teachers ensemble.TeacherRandomness) Summary {
	t.Helper()
	totals, err := r.Totals(nil)
	if err != nil {
		t.Fatal(err)
	}
	return Summary{
		Columns: votes.Roles{In: "columns", Votes: []string{"t1", "t2", "t3"}, Width: 3, ID: "id"},
		Problem: r.mechanism.Problem(), Presumed: !math.IsInf(r.mechanism.Problem().Epsilon, 1),
		PerAnswer: r.mechanism.PerAnswer(), Totals: totals, Teachers: teachers, Source: SourceFlags,
		Remembered: true,
	}
}

// Labels that no ledger knows are said to be so.
func TestSummaryTellsThatNothingRemembers(t *testing.T) {
	s := newSummary(t, private(t, 1e-9, 20), ensemble.FrozenTeachers)
	if _, text := summaryOf(t, s); strings.Contains(text, "nothing remembers") {
		t.Error(text)
	}
	s.Remembered = false
	if _, text := summaryOf(t, s); !strings.Contains(text, "\nledger: none: nothing remembers") {
		t.Error(text)
	}
}

// Who votes decides which totals are told; each says when it holds.
func TestSummaryTellsTheTotalsThatHold(t *testing.T) {
	r := private(t, 1e-9, 20)
	frozen := fmt.Sprintf(
		"all labels: %v-DP if each teacher's training is (0.1, 1e-09)-DP, with independent randomness",
		mustFrozen(t, r).Short())
	totals, err := r.Totals(nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh := fmt.Sprintf(
		"%v-DP if each vote is a new run of a mechanism that is (0.1, 1e-09)-DP, and these votes are "+
			"answered once", totals.Fresh.Cost.Short())
	again := fmt.Sprintf(
		"all labels: %v-DP for these and all further answers to these votes, besides what the first "+
			"answer cost", totals.Again.Cost.Short())
	for _, tt := range []struct {
		teachers string
		again    bool
		titles   []string
		want     []string
		without  string
	}{
		{"", false, []string{"all labels:", "or:"}, []string{frozen, "or: " + fresh}, "besides"},
		{"frozen", false, []string{"all labels:"}, []string{frozen}, "answered once"},
		{"fresh", false, []string{"all labels:"}, []string{"all labels: " + fresh}, "training"},
		// A second answer to the votes does not cost what the first did.
		{"fresh", true, []string{"all labels:"}, []string{again}, "answered once"},
	} {
		s := newSummary(t, r, ensemble.TeacherRandomness(tt.teachers))
		s.Again = tt.again
		titles, text := summaryOf(t, s)
		if want := append([]string{"columns:", "teachers:", "reach:", "one label:"},
			append(tt.titles, "records:")...); !slices.Equal(titles, want) {
			t.Errorf("%q: %q, want %q", tt.teachers, titles, want)
		}
		for _, want := range append(tt.want, "one record may reach all 3 teachers") {
			if !strings.Contains(text, want) {
				t.Errorf("%q: no %q in:%s", tt.teachers, want, text)
			}
		}
		if strings.Contains(text, tt.without) || strings.Contains(text, "from the table") {
			t.Errorf("%q: %q in:%s", tt.teachers, tt.without, text)
		}
	}
}

func mustFrozen(t *testing.T, r Plan) accountant.Cost {
	t.Helper()
	total, err := r.frozen()
	if err != nil {
		t.Fatal(err)
	}
	return total.Cost
}

// Nobody but the table said who the teachers are: then the report says so.
func TestSummaryNamesTheTable(t *testing.T) {
	s := newSummary(t, private(t, 1e-9, 20), "fresh")
	s.Source = SourceTable
	_, text := summaryOf(t, s)
	if !strings.Contains(text, "come from the table, not from you") {
		t.Errorf("%s", text)
	}
}

// Each total that is shown, and no other, is weighed, at the number of records if it is known.
func TestSummaryWarns(t *testing.T) {
	p := constraints.Problem{K: 3, M: 0.5, Epsilon: 0.1, TeacherDelta: 1e-3, Affected: 3, Delta: 1e-9}
	r := darrm(t, p, 20)
	for _, tt := range []struct {
		teachers string
		again    bool
		records  int
		want     []string // how the warnings begin
	}{
		{"fresh", false, 0, nil},
		{"fresh", true, 0, []string{"fresh teachers: this total protects nobody: δ"}},
		{"fresh", false, 50_000_000, []string{"fresh teachers: this total protects nobody: δ"}},
		{"frozen", false, 0, nil},
		{"frozen", false, 334, []string{"frozen teachers: this total protects nobody: δ"}},
		{"", false, 334, []string{"frozen teachers: this total protects nobody: δ"}},
		{"", false, 50_000_000, []string{"frozen teachers: this total protects nobody: δ",
			"fresh teachers: this total protects nobody: δ"}},
	} {
		s := newSummary(t, r, ensemble.TeacherRandomness(tt.teachers))
		s.Again, s.Records = tt.again, tt.records
		got := s.Warnings()
		ok := len(got) == len(tt.want)
		for i := range min(len(got), len(tt.want)) {
			ok = ok && strings.HasPrefix(got[i], tt.want[i])
		}
		titles, _ := summaryOf(t, s)
		if told := len(titles) - len(slices.DeleteFunc(slices.Clone(titles),
			func(s string) bool { return s == "WARNING:" })); !ok || told != len(tt.want) {
			t.Errorf("%+v: %q, titles %q", tt, got, titles)
		}
	}
	if got := newSummary(t, noisy(t, 100), "").Warnings(); len(got) != 1 ||
		!strings.HasPrefix(got[0], "this total protects nobody: ε = 50") {
		t.Errorf("teachers that promise nothing: %q", got)
	}
}
