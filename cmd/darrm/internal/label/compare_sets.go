package label

import (
	"fmt"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
)

// setScores are figures of questions with several labels: of mechanisms, and of always no behind them.
type setScores struct {
	Dropped int64                `json:"dropped_votes"` // beyond --most-yes
	Scores  []*ensemble.SetScore `json:"mechanisms"`
	labels  int                  // of Scores, that whose labels are printed
}

// setScoresOf scores these mechanisms, the labels of one of which are printed.
func setScoresOf(s *scores, mechanisms []*ensemble.Mechanism, labels int) (*setScores, error) {
	out := &setScores{labels: labels, Dropped: s.dropped}
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
	w.Text("  ", "Agrees: with an answer of the most votes. Recall: yes where more teachers say yes than no. Whole sets: "+
		"all labels of a question agree. All over the noise, exactly."+dropped)
	return nil
}
