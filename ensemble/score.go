package ensemble

import (
	"context"
	"errors"

	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
)

// Score is the quality of a mechanism's answers on given votes, in expectation over the draws:
// nothing is sampled. Scores are computed from the raw votes and are not private.
type Score struct {
	Agreement float64 // how often the answer is a class with the most votes: the mean of labellaw.Plurality
	Accuracy  float64 // against the queries' true classes; only where Labels > 0
	Balanced  float64 // the mean of the recall of the classes that have the most votes somewhere
	Abstained float64 // share of queries without a class, which agree with nothing
	// Shared is Agreement where a tie is shared: the label is the one of its classes that a fair coin takes.
	Shared  float64
	Queries int // how many there are
	Labels  int // how many of them have a true class
}

// Interval is a range of shares, in [0,1].
type Interval struct{ Low, High float64 }

// Worth returns how many labels without noise carry as much as the given number of these, for classes that are
// equally frequent and that the mechanism treats alike: see package labellaw.
func (s Score) Worth(classes, labels int) float64 {
	c := labellaw.Channel{Classes: classes, Agrees: s.Shared, Abstains: s.Abstained}
	return c.Worth(labellaw.Equal(classes), labels)
}

// AgreementInterval returns the 95 % interval of Agreement: [Wilson] over the queries.
func (s Score) AgreementInterval() Interval { return Wilson(s.Agreement, s.Queries) }

// AccuracyInterval returns the 95 % interval of Accuracy: [Wilson] over the labelled queries.
func (s Score) AccuracyInterval() Interval { return Wilson(s.Accuracy, s.Labels) }

// Wilson returns the 95 % score interval (Wilson, 1927) for the mean of n values between 0 and 1
// that have that mean, if they are independent draws from one population (num.Wilson). Of 0s and 1s
// it covers the population's mean in about 95 % of all draws. Other values vary less than 0s and 1s
// with the same mean, so the interval is rather too wide for them. For a score the values are each
// query's probability of a good answer: the interval is about which queries came, and not about the
// noise, which is averaged out. Without values it is all of [0,1].
func Wilson(mean float64, n int) Interval {
	if n < 1 {
		return Interval{0, 1}
	}
	low, high := num.Wilson(mean, float64(n))
	return Interval{low, high}
}

// Evaluate scores the mechanism on the votes. It fails if they are of other teachers or classes.
func (m *Mechanism) Evaluate(b *Ballots) (Score, error) {
	s, _, err := m.evaluate(b)
	return s, err
}

// evaluate is Evaluate, with the recall of each class, which is nil where no query leads to the class.
func (m *Mechanism) evaluate(b *Ballots) (s Score, recall []*float64, err error) {
	if err := m.checkBallots(b); err != nil {
		return s, nil, err
	}
	law := m.rule.law
	if b.classes > 2 && !m.Named() {
		law = once(law)
	}
	s, recall = b.scoreEach(func(of ballot) []float64 {
		if tables, each := m.rule.(labelTables); each {
			return tables[of.label].law(of.counts)
		}
		return law(of.counts)
	})
	return s, recall, nil
}

func (m *Mechanism) checkBallots(b *Ballots) error {
	if b == nil {
		return errors.New("ballots must be given: use NewBallots")
	}
	if err := check.Teachers(b.K()); err != nil {
		return err
	}
	if n := m.LabelTables(); n > 0 && n != b.labels {
		return check.Wantf("labels of a question", b.labels, "the mechanism's, %d: each has a table of its own", n)
	}
	if b.missing && !m.setting.Missing {
		return ErrMissing
	}
	if b.K() != m.setting.K {
		return check.Wantf("K of the votes", b.K(), "the mechanism's, %d", m.setting.K)
	}
	if b.Classes() != m.setting.Classes {
		return check.Wantf("classes of the votes", b.Classes(), "the mechanism's, %d", m.setting.Classes)
	}
	return nil
}

// LabelLaw returns the law of the mechanism's labels under a public prior of votes: see package
// labellaw. It reads no votes, draws nothing and costs nothing. The error names the share, name or
// weight that breaks its rule, or says that each label has a table of its own, or is ctx.Err(). Cost: the probabilities of each histogram of the prior,
// once.
func (m *Mechanism) LabelLaw(ctx context.Context, prior labellaw.Prior, o labellaw.Options) (*labellaw.Law,
	error) {
	m = handle.Made(m)
	s := m.Setting()
	if err := check.Classes(s.Classes); err != nil {
		return nil, err
	}
	if m.LabelTables() > 0 {
		return nil, check.Want("labels of a question", "one table each", "answered by one table: each label has a law of its own")
	}
	o = o.Complete(s.Classes)
	l := &labellaw.Law{Channel: labellaw.Channel{Classes: s.Classes}, K: s.K, Mechanism: m.Name(), Answers: max(1, m.Together().Most), Prior: o.Prior,
		Names: o.Names, Shares: o.Shares}
	err := labellaw.Fit(ctx, l, m.Named(), prior, m.Probabilities)
	if err != nil {
		return nil, err
	}
	if l.Limit, err = m.WorthLimit(ctx, prior); err != nil {
		return nil, err
	}
	return l, l.Validate()
}

// WorthLimit returns the limit of the worth of labels as their number grows, for tables of two classes
// that are priced for all their answers: labellaw.Limit. It is 0 for other mechanisms, whose limit is
// not known.
func (m *Mechanism) WorthLimit(ctx context.Context, prior labellaw.Prior) (float64, error) {
	m = handle.Made(m)
	s := m.Setting()
	if m.answers == nil || m.Named() || s.Classes != 2 || m.Abstains() {
		return 0, nil
	}
	return labellaw.Limit(ctx, prior, s.Affected, m.PerAnswer())
}
