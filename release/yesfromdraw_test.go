package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// privateVotes is a mechanism of teachers with a promise, for so many votes, public ones among them.
func privateVotes(t *testing.T, votes int) Plan {
	p := constraints.Problem{K: votes, M: 3, Epsilon: .1, TeacherDelta: 1e-5, Affected: 1}
	return darrm(t, must.Get(p.WithDefaultDelta())(t), 0)
}

// thresholds are those of three teachers, with the votes that each has; "" is more than half.
var thresholds = []struct {
	from  string
	votes int
}{{"1", 5}, {"2", 3}, {"3", 5}, {"", 3}}

// Private teachers' votes are the same votes under every threshold, whether they are there one by one or counted: a
// ledger takes them for one draw, which pays for the answers under all of them, and frozen teachers are charged once.
func TestDrawHasEveryThreshold(t *testing.T) {
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range map[string]string{"votes": someVotes, "counts": "zeros,ones\n1,2\n3,0\n1,2\n"} {
		l, dir, book := newLabels(t, 1e3)
		do(os.WriteFile(l.Votes[0], []byte(file), 0o600))
		if name == "counts" {
			l.Read.Layout, l.Read.Header = votes.LayoutCounts, votes.HeaderYes
		}
		run := func(id, draw, from string, k int, teachers ensemble.TeacherRandomness) error {
			l := l
			l.Charge = paidBy(book, id)
			l.Charge.Draw, l.Charge.Teachers, l.Read.YesFrom = draw, teachers, from
			if teachers == ensemble.FrozenTeachers {
				l.Charge.Ensemble = "frozen"
			}
			l.Output = FileOutput{Path: filepath.Join(dir, id)}
			l.Plan = func(context.Context, int, int) (Plan, error) { return privateVotes(t, k), nil }
			_, err := l.Run(t.Context())
			return err
		}
		do(run("first", "", "1", 5, ensemble.FreshTeachers))
		spent := func() ledger.Cost { return must.Get(book.State(t.Context()))(t).Spent }
		for _, teachers := range []ensemble.TeacherRandomness{ensemble.FreshTeachers, ensemble.FrozenTeachers} {
			draw := ""
			if teachers == ensemble.FreshTeachers {
				for i, x := range thresholds {
					if err := run(fmt.Sprint("new", i), "", x.from, x.votes, teachers); !errors.Is(err, ledger.ErrSameVotes) {
						t.Errorf("%s, yes from %q on: the votes of an earlier draw are a new one: %v", name, x.from, err)
					}
				}
				draw = "first"
			}
			var once ledger.Cost
			for i, x := range thresholds {
				do(run(fmt.Sprint(teachers, i), draw, x.from, x.votes, teachers))
				if i == 0 {
					once = spent()
				}
			}
			if got := spent(); got != once {
				t.Errorf("%s, %s teachers: %v is spent under four thresholds, %v under one", name, teachers, got, once)
			}
		}
	}
}

// On line it is the same.
func TestBatchHasEveryThreshold(t *testing.T) {
	for name, b := range map[string]Batch{"votes": {Votes: [][]int{{1, 1, 0}, {0, 0, 0}}}, "counts": {Counts: [][]int{{1, 2}, {3, 0}}}} {
		book, key := newLedger(t, 1e3), filepath.Join(t.TempDir(), "key")
		for i, x := range thresholds {
			plan := privateVotes(t, x.votes)
			o := openOnline(t, OnlineOptions{Plan: plan, Several: must.Get(ensemble.Several{YesFrom: x.from}.Of(3))(t), Stated: saidOf(plan),
				Charge: Charge{Ledger: book.Path(), Teachers: ensemble.FreshTeachers, AcceptWeak: true, Slack: new(0.0)}, Key: key})
			b.Name = fmt.Sprint("b", i)
			if _, err := o.Batch(t.Context(), b); errors.Is(err, ledger.ErrSameVotes) != (i > 0) || (err == nil) != (i == 0) {
				t.Errorf("%s, yes from %q on: %v", name, x.from, err)
			}
		}
	}
}
