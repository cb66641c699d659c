package ensemble

import (
	"context"

	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// LabelLaw returns the law of the mechanism's labels under a public prior of votes: see package
// labellaw. It reads no votes, draws nothing and costs nothing. The error names the share, name or
// weight that breaks its rule, or says that the mechanism is Named, or is ctx.Err(). Cost: the probabilities of each histogram of the prior,
// once.
func (m *Mechanism) LabelLaw(ctx context.Context, prior labellaw.Prior, o labellaw.Options) (*labellaw.Law,
	error) {
	m = handle.Made(m)
	s := m.Setting()
	if err := check.Classes(s.Classes); err != nil {
		return nil, err
	}
	if m.Named() { // a Channel is the same for each class
		return nil, check.Want("classes of the table", "told apart", "treated alike: the law of a label, and its worth "+
			"for training, are of such tables")
	}
	o = o.Complete(s.Classes)
	l := &labellaw.Law{K: s.K, Mechanism: m.Name(), Answers: max(1, m.Together().Most), Prior: o.Prior,
		Names: o.Names, Shares: o.Shares}
	var err error
	if l.Channel, l.Beta, err = labellaw.Fit(ctx, s.Classes, prior, m.Probabilities); err != nil {
		return nil, err
	}
	if l.Limit, err = m.WorthLimit(ctx, prior); err != nil {
		return nil, err
	}
	return l, l.Validate()
}

// WorthLimit returns what the worth of labels tends to as their number grows, where each number has a
// table of two classes that is priced for all of them: labellaw.Limit. It is 0 of other mechanisms, for
// which none is known.
func (m *Mechanism) WorthLimit(ctx context.Context, prior labellaw.Prior) (float64, error) {
	m = handle.Made(m)
	s := m.Setting()
	if m.answers == nil || m.Named() || s.Classes != 2 || m.Abstains() {
		return 0, nil
	}
	return labellaw.Limit(ctx, prior, s.Affected, m.PerAnswer())
}
