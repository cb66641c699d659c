package label

import (
	"fmt"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/votes"
)

// scores counts the votes at hand, to evaluate mechanisms on them. The scores are not private.
type scores struct {
	ballots       *ensemble.Ballots
	sets          *ensemble.Sets // of several labels of a question; else nil
	teachers      int
	several       ensemble.Several
	dropped       int64 // votes beyond --most-yes
	truths, right int   // queries with a true label, and those whose drawn label is it
}

func newScores(k, classes int, mayMiss bool, labels []string) (s *scores, err error) {
	s = &scores{}
	if s.ballots, err = ensemble.NewBallots(k, classes); err == nil && mayMiss {
		s.ballots.AllowMissing()
	}
	if err == nil && len(labels) > 0 {
		s.ballots.Label(len(labels))
		s.sets, err = ensemble.NewSets(labels)
	}
	return s, err
}

func (s *scores) add(b *votes.Batch, answers []int) error {
	for i := range b.Len() {
		truth := b.Truth(i)
		if truth != ensemble.NoTruth {
			s.truths++
			if answers != nil && answers[i] == truth {
				s.right++
			}
		}
		if err := s.ballots.Add(b.Row(i), truth); err != nil {
			return err
		}
		if s.sets == nil {
			continue
		}
		if err := s.sets.Add(b.Row(i), truth); err != nil {
			return err
		}
	}
	return nil
}

func scoreRow(title string, s ensemble.Score) []string {
	right := "-"
	if s.Labels > 0 {
		right = num.Percent(s.Accuracy)
	}
	return []string{title, num.Percent(s.Agreement), right}
}

// report writes the scores of a release's mechanism and of the baselines to stderr.
func (s *scores) report(a *cli.App, g choose.Choice) error {
	if a.Quiet {
		return nil
	}
	rows := [][]string{scoreRow("plain majority (not private)", s.ballots.Plain())}
	own, err := g.Mechanism().Evaluate(s.ballots)
	if err != nil {
		return err
	}
	rows = append(rows, scoreRow(g.Mechanism().Title(), own))
	if g.Noise != nil {
		for _, b := range g.Noise.Baselines {
			baseline, err := ensemble.Baseline(b, g.Mechanism().Setting().Neighbours)
			if err != nil {
				return err
			}
			score, err := baseline.Evaluate(s.ballots)
			if err != nil {
				return err
			}
			rows = append(rows, scoreRow(b.Title(), score))
		}
	}
	if g.Optimum != nil {
		p := g.Optimum.Problem()
		flip, err := ensemble.PermuteAndFlip(g.Mechanism().Setting(), p.Epsilon)
		if err != nil {
			return err
		}
		score, err := flip.Evaluate(s.ballots)
		if err != nil {
			return err
		}
		rows = append(rows, scoreRow(flip.Title(), score))
	}
	a.Say("\nNOT PRIVATE, for your eyes only: computed from the raw votes and true labels; to be " +
		"like the majority, " + problem.AgreementRule)
	if err := a.Talk().Table(terminal.TextTable{Header: []string{"mechanism, over its noise",
		"like the majority", "right"}, Rows: rows}); err != nil {
		return err
	}
	if s.sets != nil {
		table, err := setScoresOf(s, []*ensemble.Mechanism{g.Mechanism()}, 0)
		if err != nil {
			return err
		}
		if err := table.render(a.Talk()); err != nil {
			return err
		}
	}
	if s.truths > 0 {
		known := ""
		if n := s.ballots.Plain().Queries; s.truths < n {
			known = fmt.Sprintf(" whose true label is known, of %d", n)
		}
		a.Say("the labels just drawn: %s right (%d of %d%s)",
			num.Percent(float64(s.right)/float64(s.truths)), s.right, s.truths, known)
	}
	return nil
}

// notPrivate warns that what follows was computed from raw votes.
const notPrivate = "NOT PRIVATE, for your eyes only: computed from the raw votes"

// setScores are figures of questions with several labels: of mechanisms, and of always no behind them.
type setScores struct {
	Dropped int64                `json:"dropped_votes"` // beyond --most-yes
	Scores  []*ensemble.SetScore `json:"mechanisms"`
	labels  int                  // of Scores, that whose labels are printed
	several ensemble.Several
}

// setScoresOf scores these mechanisms, the labels of one of which are printed.
func setScoresOf(s *scores, mechanisms []*ensemble.Mechanism, labels int) (*setScores, error) {
	out := &setScores{labels: labels, Dropped: s.dropped, several: s.several}
	for _, m := range mechanisms {
		score, err := s.sets.Score(m)
		if err != nil {
			return nil, err
		}
		out.Scores = append(out.Scores, score)
	}
	no, err := s.sets.AlwaysNo()
	out.Scores = append(out.Scores, no)
	return out, err
}

// setScoresOfRows scores the mechanisms of a comparison. The labels that are printed are of the one that a
// release takes, else of the first.
func setScoresOfRows(s *scores, c *ensemble.Comparison) (*setScores, error) {
	var mechanisms []*ensemble.Mechanism
	labels := 0
	for _, r := range c.Rows {
		if r.Refused != nil {
			continue
		}
		if r.Planned != nil && r.Planned.Chosen {
			labels = len(mechanisms)
		}
		mechanisms = append(mechanisms, r.Mechanism)
	}
	return setScoresOf(s, mechanisms, labels)
}

func percentOr(x *float64) string {
	if x == nil {
		return "-"
	}
	return num.Percent(*x)
}

// render writes two tables: each label, and all labels of a question at once.
func (t *setScores) render(w *terminal.Page) error {
	of := t.Scores[t.labels]
	w.Printf("\nEach label, by %s:\n\n", of.Title)
	var rows [][]string
	for _, l := range of.Labels {
		rows = append(rows, []string{terminal.Printable(l.Label), num.Percent(l.Yes), num.Percent(l.AlwaysNo),
			num.Percent(l.Agreement), percentOr(l.Recall), percentOr(l.Accuracy)})
	}
	if err := w.Table(terminal.TextTable{Header: []string{"label", "yes", "always no", "agrees", "recall", "right"},
		Rows: rows}); err != nil {
		return err
	}
	w.Printf("\nAll labels of a question at once:\n\n")
	rows = nil
	for _, s := range t.Scores {
		rows = append(rows, []string{s.Title, num.Percent(s.Agreement), percentOr(s.Recall), num.Percent(s.Whole),
			percentOr(s.Right)})
	}
	if err := w.Table(terminal.TextTable{Header: []string{"mechanism", "agrees", "recall", "whole sets", "right sets"},
		Rows: rows}); err != nil {
		return err
	}
	dropped := ""
	if t.Dropped > 0 {
		dropped = fmt.Sprintf(" %d votes for yes were beyond the first of a teacher that are counted.", t.Dropped)
	}
	agrees := "with an answer of the most votes. Recall: yes where more teachers say yes than no"
	if from := t.several.From(); from > 0 {
		agrees = fmt.Sprintf("yes where at least %d of %d teachers say yes, and no elsewhere. Recall: yes where so many say yes",
			from, t.several.Teachers)
	}
	w.Text("  ", "Agrees: "+agrees+". Whole sets: all labels of a question agree. All over the noise, exactly."+dropped)
	return nil
}
