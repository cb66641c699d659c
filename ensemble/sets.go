package ensemble

import (
	"errors"
	"fmt"

	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// Sets are the votes on questions with several yes/no labels, to score mechanisms on whole sets and on each
// label. It is not safe for concurrent use while questions are added.
type Sets struct {
	labels []string
	counts [][2]uint16 // no and yes, label by label, question by question
	truth  []int8      // NoTruth where it is not known
}

// NewSets returns no votes yet, on these labels.
func NewSets(labels []string) (*Sets, error) {
	s := Several{Labels: len(labels)}
	if err := s.Validate(); err != nil || len(labels) == 0 {
		return nil, errors.Join(err, fmt.Errorf("labels = %d, but it must be at least 1", len(labels)))
	}
	return &Sets{labels: handle.Deep(labels)}, nil
}

// Add adds the next label's votes, of no and yes, and its true answer, 0, 1 or NoTruth. The labels of a
// question come one after the other, in their order.
func (s *Sets) Add(counts []int, truth int) error {
	if s == nil || len(s.labels) == 0 {
		return errors.New("labels must be given: use NewSets")
	}
	if len(counts) != 2 || min(counts[0], counts[1]) < 0 || max(counts[0], counts[1]) > 1<<16-1 || truth < NoTruth || truth > 1 {
		return fmt.Errorf("votes %v with the truth %d are not those of a label", counts, truth)
	}
	s.counts = append(s.counts, [2]uint16{uint16(counts[0]), uint16(counts[1])})
	s.truth = append(s.truth, int8(truth))
	return nil
}

// LabelScore is the quality of answers to one label, in expectation over the draws: computed from raw votes,
// not private.
type LabelScore struct {
	Label     string   `json:"label"`
	Yes       float64  `json:"yes"`       // share of the questions on which more teachers say yes than no
	AlwaysNo  float64  `json:"always_no"` // how often no is an answer with the most votes
	Agreement float64  `json:"agreement"` // how often the answer is one with the most votes
	Recall    *float64 `json:"recall"`    // how often it is yes where more say yes than no; null where none do
	Accuracy  *float64 `json:"accuracy"`  // how often it is the true one; null without true labels
}

// SetScore is the quality of a mechanism's answers to questions with several labels.
type SetScore struct {
	Mechanism string       `json:"mechanism"`
	Title     string       `json:"title"`
	Agreement float64      `json:"agreement"` // mean over all labels
	Recall    *float64     `json:"recall"`    // over all that have more yes than no
	Whole     float64      `json:"whole_sets"`
	Accuracy  *float64     `json:"accuracy"`         // of the labels whose truth is known
	Right     *float64     `json:"whole_sets_right"` // of the questions all of whose truths are known
	Labels    []LabelScore `json:"labels"`
}

// Score returns how good the mechanism's answers are: exactly, since the labels of a question are drawn
// independently. Whole sets are questions all of whose labels agree at once, each with an answer that
// has the most votes. The error is that of Probabilities.
func (s *Sets) Score(m *Mechanism) (*SetScore, error) {
	m = handle.Made(m)
	if n := m.LabelTables(); n > 0 && n != len(handle.Made(s).labels) {
		return nil, check.Wantf("labels of a question", len(s.labels), "the mechanism's, %d: each has a table of its own", n)
	}
	type votes struct {
		label  int
		counts [2]uint16
	}
	known := make(map[votes][]float64)
	score, err := s.score(func(label int, counts [2]uint16) ([]float64, error) {
		if m.LabelTables() == 0 { // which answers all labels alike
			label = 0
		}
		law, ok := known[votes{label, counts}]
		if !ok {
			one, err := m.OfLabel(label)
			if err != nil {
				return nil, err
			}
			if law, err = one.Probabilities([]int{int(counts[0]), int(counts[1])}); err != nil {
				return nil, err
			}
			known[votes{label, counts}] = law
		}
		return law, nil
	})
	if err != nil {
		return nil, err
	}
	score.Mechanism, score.Title = m.name, m.Title()
	return score, nil
}

// AlwaysNo is Score of the answer no to everything, which draws nothing.
func (s *Sets) AlwaysNo() (*SetScore, error) {
	score, err := s.score(func(int, [2]uint16) ([]float64, error) { return []float64{1, 0}, nil })
	if err != nil {
		return nil, err
	}
	score.Mechanism, score.Title = "always no", "always no"
	return score, nil
}

// tally adds up a share.
type tally struct{ sum, of float64 }

func (t *tally) add(x float64) { t.sum, t.of = t.sum+x, t.of+1 }

func (t tally) share() float64 {
	if t.of == 0 {
		return 0
	}
	return t.sum / t.of
}

func (t tally) known() *float64 {
	if t.of == 0 {
		return nil
	}
	share := t.share()
	return &share
}

// score returns the score of answers with such a law of no, yes and perhaps none.
func (s *Sets) score(law func(label int, counts [2]uint16) ([]float64, error)) (*SetScore, error) {
	s = handle.Made(s)
	labels := len(s.labels)
	if labels == 0 || len(s.counts) == 0 || len(s.counts)%labels != 0 {
		return nil, fmt.Errorf("votes on %d labels are no whole questions of %d", len(s.counts), labels)
	}
	type one struct{ yes, no, agrees, recall, right tally }
	each := make([]one, labels)
	var all one
	var whole, rightSets tally
	for from := 0; from < len(s.counts); from += labels {
		together, right, truths := 1.0, 1.0, 0
		for l := range labels {
			counts, truth := s.counts[from+l], s.truth[from+l]
			p, err := law(l, counts)
			if err != nil {
				return nil, err
			}
			agrees, _ := labellaw.Plurality([]int{int(counts[0]), int(counts[1])}, p)
			together *= agrees
			for _, x := range []*one{&each[l], &all} {
				x.agrees.add(agrees)
				x.yes.add(indicator(counts[1] > counts[0]))
				x.no.add(indicator(counts[0] >= counts[1]))
				if counts[1] > counts[0] {
					x.recall.add(p[1])
				}
				if truth >= 0 {
					x.right.add(p[truth])
				}
			}
			if truth >= 0 {
				truths++
				right *= p[truth]
			}
		}
		if whole.add(together); truths == labels {
			rightSets.add(right)
		}
	}
	out := &SetScore{Agreement: all.agrees.share(), Recall: all.recall.known(), Whole: whole.share(),
		Accuracy: all.right.known(), Right: rightSets.known()}
	for l, x := range each {
		out.Labels = append(out.Labels, LabelScore{s.labels[l], x.yes.share(), x.no.share(), x.agrees.share(),
			x.recall.known(), x.right.known()})
	}
	return out, nil
}

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
