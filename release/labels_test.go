package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/votes"
	_ "github.com/darrm/darrm/votes/parquet"
)

const someVotes = "t1,t2,t3\n1,1,0\n0,0,0\n1,0,1\n"

// newLabels is a release of three labels, for 0.9 with fresh teachers, in a directory with
// the votes and a ledger, which Charge does not name.
func newLabels(t *testing.T, budget float64) (l planning, dir string, book *ledger.Ledger) {
	t.Helper()
	dir, book = t.TempDir(), newLedger(t, budget)
	at := filepath.Join(dir, "votes.csv")
	if err := os.WriteFile(at, []byte(someVotes), 0o600); err != nil {
		t.Fatal(err)
	}
	return planning{
		Labels: Labels{Votes: []string{at}, Output: FileOutput{Path: filepath.Join(dir, "labels.csv")}},
		Plan: func(_ context.Context, k, classes int) (Plan, error) {
			if k != 3 || classes != 2 {
				return Plan{}, fmt.Errorf("%d teachers, %d classes", k, classes)
			}
			return private(t, 1e-5, 0), nil
		},
	}, dir, book
}

func paidBy(book *ledger.Ledger, id string) Charge {
	return Charge{Ledger: book.Path(), RequestID: id, Teachers: "fresh", Slack: new(0.0)}
}

// namesIn are the files of a directory.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func isUsage(err error) bool { var u *UsageError; return errors.As(err, &u) }

// Without a ledger the labels are written, and not replaced by a second draw that nobody
// accounts for unless it is forced; nor by a simulation, which is marked.
func TestLabelsWithoutALedger(t *testing.T) {
	l, dir, _ := newLabels(t, 1)
	s, err := l.Run(t.Context())
	first := contentOf(t, l.Output.Path)
	if err != nil || s.Queries != 3 || s.Mechanism != ensemble.OtherTable || s.Before || s.Remembered ||
		!strings.HasPrefix(first, "query,label\n0,") || strings.Count(first, "\n") != 4 {
		t.Fatalf("%+v, %v, %q", s, err, first)
	}
	if s, err := l.Run(t.Context()); s != nil || !isUsage(err) || !errors.Is(err, fs.ErrExist) ||
		contentOf(t, l.Output.Path) != first {
		t.Errorf("again: %+v, %v", s, err)
	}
	if q, err := l.Quote(t.Context()); err != nil || q.Charge != nil || q.Queries != 3 ||
		q.Totals.Fresh.Cost.Epsilon == 0 || contentOf(t, l.Output.Path) != first {
		t.Errorf("dry: %+v, %v", q, err)
	}
	l.Force = true
	if _, err := l.Run(t.Context()); err != nil {
		t.Errorf("forced: %v", err)
	}
	released := contentOf(t, l.Output.Path)
	l.Force, l.Seed = false, new(uint64(7))
	if s, err := l.Run(t.Context()); s != nil || !isUsage(err) || !errors.Is(err, fs.ErrExist) ||
		!strings.Contains(err.Error(), "or force to replace") || contentOf(t, l.Output.Path) != released {
		t.Errorf("a simulation over a release: %+v, %v", s, err)
	}
	l.Force = true
	if _, err := l.Run(t.Context()); err != nil ||
		!strings.HasPrefix(contentOf(t, l.Output.Path), "query,simulated_label\n") {
		t.Errorf("simulated: %v, %q", err, contentOf(t, l.Output.Path))
	}
	if got := namesIn(t, dir); !slices.Equal(got, []string{"labels.csv", "votes.csv"}) {
		t.Errorf("files %q", got)
	}
}

// A dry run charges nothing and states the cost that a release then has; the release is charged
// once, is in its output when it is asked for again, and the same votes are not answered under
// another name. What is refused leaves no file.
func TestLabelsArePaidForOnce(t *testing.T) {
	l, dir, book := newLabels(t, 10)
	l.Charge = paidBy(book, "march")
	q, err := l.Quote(t.Context())
	if err != nil || q.Again || entries(t, book) != nil || contentOf(t, l.Output.Path) != "" {
		t.Fatalf("%+v, %v, entries %q", q, err, entries(t, book))
	}
	var told int
	l.Each = func(b *votes.Batch, answers []int) error { told += len(answers); return nil }
	s, err := l.Run(t.Context())
	spent, _ := book.Spent(t.Context())
	if err != nil || s.Again || s.PaidBy != "" || told != 3 || spent != *q.Charge {
		t.Fatalf("%+v, %v, told of %d; spent %v, quoted %v", s, err, told, spent, *q.Charge)
	}
	first := contentOf(t, l.Output.Path)
	if s, err := l.Run(t.Context()); err != nil || !s.Before || contentOf(t, l.Output.Path) != first ||
		told != 3 {
		t.Errorf("asked again: %+v, %v", s, err)
	}
	if _, err := l.Quote(t.Context()); !errors.Is(err, ledger.ErrReplayed) {
		t.Errorf("dry, asked again: %v", err)
	}
	l.Output.Path += ".2"
	l.Charge.RequestID = "april"
	if s, err := l.Run(t.Context()); s != nil || !errors.Is(err, ledger.ErrSameVotes) {
		t.Errorf("the same votes: %+v, %v", s, err)
	}
	if got := namesIn(t, dir); !slices.Equal(got, []string{"labels.csv", "votes.csv"}) {
		t.Errorf("a refusal left %q", got)
	}
	l.Charge.Draw = "march"
	if q, err := l.Quote(t.Context()); err != nil || !q.Again || q.PaidBy != "draw:march" {
		t.Errorf("dry, the same draw: %+v, %v", q, err)
	}
	if s, err := l.Run(t.Context()); err != nil || !s.Again || s.PaidBy != "draw:march" {
		t.Errorf("the same draw: %+v, %v", s, err)
	}
}

// Votes that change between the reading that was paid for and the one that is answered are
// not answered: more or fewer of them, and of fresh teachers others. The budget is spent and
// nothing is out.
func TestVotesThatChangeAreNotAnswered(t *testing.T) {
	for _, tt := range []struct {
		name, teachers, votes, want string
	}{
		{"more", "frozen", someVotes + "1,1,1\n", "there are more"},
		{"fewer", "frozen", "t1,t2,t3\n1,1,0\n", "there are 1"},
		{"others", "fresh", "t1,t2,t3\n1,1,0\n0,0,0\n0,0,1\n", "they are not those that were paid for"},
		{"other teachers'", "fresh", "t1,t2,t3\n0,1,1\n0,0,0\n1,0,1\n",
			"they are not those that were paid for"},
	} {
		l, dir, book := newLabels(t, 10)
		l.Charge = paidBy(book, "march")
		if l.Charge.Teachers = ensemble.TeacherRandomness(tt.teachers); tt.teachers == "frozen" {
			l.Charge.Ensemble = "wards"
		}
		changed := filepath.Join(dir, "votes.csv")
		once := true
		l.Progress = func(passage string) (func(votes.Progress), func()) {
			return func(votes.Progress) {}, func() {
				if passage == "counting" && once {
					once = false
					if err := os.WriteFile(changed, []byte(tt.votes), 0o600); err != nil {
						t.Error(err)
					}
				}
			}
		}
		s, err := l.Run(t.Context())
		var input *InputError
		if s != nil || !errors.As(err, &input) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v, want %q", tt.name, s, err, tt.want)
		}
		if got := namesIn(t, dir); !slices.Equal(got, []string{"votes.csv"}) ||
			len(entries(t, book)) == 0 {
			t.Errorf("%s: files %q, entries %q", tt.name, got, entries(t, book))
		}
	}
}

// Votes that change after the key was bound to them are not answered with its coins, which may
// still answer those that were counted: also of frozen teachers, whose votes the ledger does not
// know.
func TestVotesThatChangeUnderAKey(t *testing.T) {
	l, dir, book := newLabels(t, 10)
	l.Charge, l.Checkpoint = paidBy(book, "march"), filepath.Join(dir, "secret")
	l.Charge.Teachers, l.Charge.Ensemble = ensemble.FrozenTeachers, "wards"
	l.Progress = func(passage string) (func(votes.Progress), func()) {
		return func(votes.Progress) {}, func() {
			if passage != "counting" {
				return
			}
			const others = "t1,t2,t3\n0,0,1\n0,0,0\n1,0,1\n"
			if err := os.WriteFile(l.Votes[0], []byte(others), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	s, err := l.Run(t.Context())
	var input *InputError
	if s != nil || !errors.As(err, &input) || !strings.Contains(err.Error(), "are not those that") ||
		contentOf(t, l.Output.Path) != "" {
		t.Fatalf("%+v, %v", s, err)
	}
	l.Progress = nil
	if err := os.WriteFile(l.Votes[0], []byte(someVotes), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(t.Context()); err != nil {
		t.Errorf("the votes that were counted: %v", err)
	}
}

// A key that cannot be kept is not paid with: after an interruption nobody could finish.
func TestKeyMustBeKept(t *testing.T) {
	l, dir, book := newLabels(t, 10)
	l.Charge, l.Checkpoint = paidBy(book, "march"), filepath.Join(dir, "none", "secret")
	var output *OutputError
	if s, err := l.Run(t.Context()); s != nil || !errors.As(err, &output) || entries(t, book) != nil {
		t.Errorf("%+v, %v, entries %q", s, err, entries(t, book))
	}
}

// A ledger without its secret pays for no votes, and nothing is released; nor is anything without a
// plan.
func TestLabelsWithoutTheSecretOrAPlan(t *testing.T) {
	l, dir, book := newLabels(t, 10)
	l.Charge = paidBy(book, "a")
	planned, broken := l.Plan, errors.New("broken")
	l.Plan = func(context.Context, int, int) (Plan, error) { return Plan{}, broken }
	if s, err := l.Run(t.Context()); s != nil || !errors.Is(err, broken) {
		t.Errorf("without a plan: %+v, %v", s, err)
	}
	l.Plan = planned
	if err := os.Remove(book.Path() + ledger.SecretSuffix); err != nil {
		t.Fatal(err)
	}
	if s, err := l.Run(t.Context()); s != nil || !errors.Is(err, ledger.ErrSecret) {
		t.Errorf("without the secret: %+v, %v", s, err)
	}
	if got := namesIn(t, dir); !slices.Equal(got, []string{"votes.csv"}) {
		t.Errorf("files %q", got)
	}
	checkSpent(t, book, 0)
}

// A release that was interrupted after it was paid for is finished with its key: charged
// once, with the answers that it would have had. The key is gone then. Other votes, another
// noise function and another request are not answered with it.
func TestLabelsAreResumed(t *testing.T) {
	l, dir, book := newLabels(t, 10)
	l.Charge, l.Checkpoint = paidBy(book, "march"), filepath.Join(dir, "secret")
	broken := errors.New("broken")
	l.Each = func(*votes.Batch, []int) error { return broken }
	if s, err := l.Run(t.Context()); s != nil || !errors.Is(err, broken) {
		t.Fatalf("%+v, %v", s, err)
	}
	checkSpent(t, book, 0.9)
	key := contentOf(t, l.Checkpoint)
	l.Each = nil
	for _, tt := range []struct {
		name   string
		change func(*planning)
		want   func(error) bool
	}{
		{"without the key", func(l *planning) { l.Checkpoint = "" }, func(err error) bool {
			return errors.Is(err, ledger.ErrReplayed)
		}},
		{"other votes", func(l *planning) {
			l.Votes = []string{filepath.Join(t.TempDir(), "other.csv")}
			if err := os.WriteFile(l.Votes[0], []byte("t1,t2,t3\n1,1,0\n0,0,0\n1,0,0\n"), 0o600); err !=
				nil {
				t.Fatal(err)
			}
		}, func(err error) bool { var input *InputError; return errors.As(err, &input) }},
		{"another request", func(l *planning) {
			l.Charge.RequestID = "april"
		}, func(err error) bool { var input *InputError; return errors.As(err, &input) }},
	} {
		other := l
		tt.change(&other)
		if s, err := other.Run(t.Context()); s != nil || !tt.want(err) ||
			contentOf(t, l.Checkpoint) != key || contentOf(t, l.Output.Path) != "" {
			t.Errorf("%s: %+v, %v", tt.name, s, err)
		}
	}
	if s, err := l.Run(t.Context()); err != nil || s.Before {
		t.Fatalf("%+v, %v", s, err)
	}
	checkSpent(t, book, 0.9)
	labels := contentOf(t, l.Output.Path)
	if got := namesIn(t, dir); !slices.Equal(got, []string{"labels.csv", "votes.csv"}) {
		t.Errorf("files %q", got)
	}
	// With a copy of the key it is the same answers.
	for range 20 { // coins of their own would agree now and then
		l.Output.Path += ".2"
		if err := os.WriteFile(l.Checkpoint, []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Run(t.Context()); err != nil || contentOf(t, l.Output.Path) != labels {
			t.Fatalf("%v, %q, then %q", err, labels, contentOf(t, l.Output.Path))
		}
	}
	checkSpent(t, book, 0.9)
}

// Votes from stdin are read twice, and a document takes the place of a file of labels.
func TestLabelsFromStdin(t *testing.T) {
	l, _, book := newLabels(t, 10)
	var out strings.Builder
	l.Charge, l.Votes, l.Stdin = paidBy(book, "march"), []string{"-"}, strings.NewReader(someVotes)
	l.Output = FileOutput{Stdout: &out}
	l.Encode = func(w io.Writer, s *Summary) error {
		_, err := fmt.Fprintln(w, s.Queries, s.Classes)
		return err
	}
	if _, err := l.Run(t.Context()); err != nil || out.String() != "3 [0 1]\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	if got := entries(t, book); len(got) != 2 {
		t.Errorf("entries %q", got)
	}
}

// Without a place to keep them, votes from stdin are not read, and nothing is charged.
func TestLabelsFromStdinNeedAPlace(t *testing.T) {
	l, dir, book := newLabels(t, 10)
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	t.Setenv("TMP", filepath.Join(dir, "none")) // of Windows
	l.Charge, l.Votes, l.Stdin = paidBy(book, "march"), []string{"-"}, strings.NewReader(someVotes)
	var output *OutputError
	if s, err := l.Run(t.Context()); !errors.As(err, &output) || entries(t, book) != nil {
		t.Errorf("%+v, %v, entries %q", s, err, entries(t, book))
	}
}

// Settings that contradict each other are refused before anything is read or charged.
func TestLabelsCheck(t *testing.T) {
	document := func(io.Writer, *Summary) error { return nil }
	for name, change := range map[string]func(*planning){
		"a document named as a table": func(l *planning) {
			l.Encode, l.Output.Path = document,
				"x.Parquet"
		},
		"a document named as packed": func(l *planning) {
			l.Encode, l.Output.Path = document,
				"x.json.gz"
		},
		"a document in another format": func(l *planning) {
			l.Encode, l.Output.Path, l.Format = document,
				"x.json", votes.FormatCSV
		},
		"a document packed": func(l *planning) {
			l.Encode, l.Output.Path, l.Compression = document, "x.json", votes.CompressionGzip
		},
		"a simulation that pays": func(l *planning) { l.Seed = new(uint64) },
		"a key without a ledger": func(l *planning) { l.Checkpoint, l.Charge = "k", Charge{} },
		"a key and coins from nowhere": func(l *planning) {
			l.Checkpoint, l.Read.Missing = "k",
				votes.MissingCoin
		},
		"the votes as output":  func(l *planning) { l.Output.Path = l.Votes[0] },
		"the ledger as output": func(l *planning) { l.Output.Path = l.Charge.Ledger },
		"the table as output":  func(l *planning) { l.Table = l.Output.Path },
		"no request":           func(l *planning) { l.Charge.RequestID = "" },
		"nobody's votes":       func(l *planning) { l.Charge.Teachers = "" },
		"less than no records": func(l *planning) { l.Charge.Records = -1 },
		"less than no labels":  func(l *planning) { l.Queries = -1 },
		"labels beyond number": func(l *planning) { l.Queries = accountant.MaxOptimalCount + 1 },
		"a key for other coins": func(l *planning) {
			l.Checkpoint, l.Read = filepath.Join(t.TempDir(), "k"),
				votes.Options{Layout: votes.LayoutCounts, Classes: []string{"a", "b", "c"}}
			l.Votes = []string{filepath.Join(t.TempDir(), "counts.csv")}
			if err := os.WriteFile(l.Votes[0], []byte("a,b,c\n10,0,0\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			l.Charge.Teachers = ""
			l.Plan = func(context.Context, int, int) (Plan, error) { return noisy(t, 0), nil }
		},
	} {
		l, _, book := newLabels(t, 10)
		l.Charge = paidBy(book, "march")
		change(&l)
		if s, err := l.Run(t.Context()); s != nil || !isUsage(err) || entries(t, book) != nil {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if _, err := l.Quote(t.Context()); !isUsage(err) && name != "a key for other coins" {
			t.Errorf("%s, dry: %v", name, err)
		}
	}
	l, _, _ := newLabels(t, 10)
	l.Encode, l.Output.Path, l.Compression = document, "x.json", votes.CompressionNone
	if _, err := l.Quote(t.Context()); err != nil {
		t.Errorf("a document that is not packed: %v", err)
	}
}

// A table is of other teachers, or other classes, than the votes: refused before anything is
// charged, whatever the front end has checked.
func TestVotesMustFitTheTable(t *testing.T) {
	p := plurality.Problem{K: 3, Classes: 2, Epsilon: 0.25, Affected: 1}
	for name, change := range map[string]func(p *plurality.Problem){
		"as it is": func(*plurality.Problem) {}, "classes": func(p *plurality.Problem) { p.Classes = 3 },
		"teachers": func(p *plurality.Problem) { p.K = 4 },
	} {
		l, dir, book := newLabels(t, 10)
		of := p
		change(&of)
		l.Plan = func(context.Context, int, int) (Plan, error) { return pluralityPlan(t, of), nil }
		l.Charge = Charge{Ledger: book.Path(), RequestID: "march"}
		s, err := l.Run(t.Context())
		if of == p {
			// Three answers of 0.25 each.
			if err != nil || s.Certificate == "" || s.Presumed || s.Mechanism != ensemble.OtherTable ||
				s.PerAnswer.Epsilon != 0.25 {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
			checkSpent(t, book, 0.75)
			continue
		}
		var input *InputError
		if s != nil || !errors.As(err, &input) || len(entries(t, book)) != 0 ||
			!slices.Equal(namesIn(t, dir), []string{"votes.csv"}) {
			t.Errorf("other %s: %+v, %v, entries %q", name, s, err, entries(t, book))
		}
	}
}

// Labels whose cost cannot be worked out are not released, with a ledger or without one.
func TestLabelsWithoutACost(t *testing.T) {
	for _, paid := range []bool{false, true} {
		l, dir, book := newLabels(t, 1)
		if paid {
			l.Charge = paidBy(book, "a")
		}
		l.Charge.Slack = new(2.0)
		if s, err := l.Run(t.Context()); s != nil || err == nil || !slices.Equal(namesIn(t, dir), []string{"votes.csv"}) {
			t.Errorf("paid %v: %+v, %v", paid, s, err)
		}
	}
}

// A budget of all labels is planned for the queries that the votes have, with a ledger or without
// one, and its slack is what the composition spends.
func TestLabelsWithinABudget(t *testing.T) {
	for _, paid := range []bool{false, true} {
		l, _, book := newLabels(t, 1)
		mechanism, asked := l.Plan, 0
		l.Plan = nil
		l.Within = func(ctx context.Context, _ accountant.Cost, k, classes, queries int) (Plan, float64, error) {
			p, err := mechanism(ctx, k, classes)
			asked = queries
			return p, 1e-7, err
		}
		if paid {
			l.Charge = paidBy(book, "a")
			l.Charge.Slack = nil
		}
		s, err := l.Run(t.Context())
		if err != nil || asked != 3 || s.Queries != 3 || s.Totals.Slack != 1e-7 {
			t.Errorf("paid %v: planned for %d: %+v, %v", paid, asked, s, err)
		}
		l.Output.Path += "2"
		if !paid { // a simulation is planned for a budget too
			l.Seed = new(uint64(7))
			if s, err := l.Run(t.Context()); err != nil || !s.Simulated || s.Queries != 3 {
				t.Errorf("simulated: %+v, %v", s, err)
			}
			l.Seed = nil
			l.Output.Path += "2"
		}
		l.Charge.Slack = new(0.0)
		if s, err := l.Run(t.Context()); s != nil || !isUsage(err) {
			t.Errorf("with a slack: %+v, %v", s, err)
		}
		l.Charge.Slack = nil
		l.Labels.Plan, l.Labels.Budget = private(t, 1e-5, 0), new(LabelBudget)
		if s, err := l.Labels.Run(t.Context()); s != nil || !isUsage(err) {
			t.Errorf("with a plan that no budget was looked at for: %+v, %v", s, err)
		}
	}
}
