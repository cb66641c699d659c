package answers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/plurality"
)

// A question with several yes/no labels may have masses of its own for each label (Problem.Labels): then a label
// that is rare is answered by what is best for its share of yes. Masses and weights of all labels stand one after
// the other, each as those of one table of two classes that are told apart.
//
// # What they cost
//
// An answer is drawn by the masses of the label that it is of, and a record moves at most t of that label's votes.
// Its two laws are therefore a pair of that label. The price is the game over the pairs of every label together
// (package accountant/game): at each of Q answers the adversary chooses a pair of any label, by all answers so far.
// So Q answers of any labels, in any order and however they are chosen, cost no more. That it is chosen which label
// is asked is one of the adversary's choices, and needs no composition. Proved by machine: named_ok in proofs/Named.v.
//
// The masses of one label alone cost no more than all: their pairs are among those of the game (OfLabel).

// errWhichLabel is the error where masses are asked of all labels.
var errWhichLabel = errors.New("each label has masses of its own: OfLabel has those of one")

// parts returns how many tables of two classes the masses are.
func (p Problem) parts() int { return max(1, p.Labels) }

// ofOne returns the problem of one label.
func (p Problem) ofOne() Problem {
	p.Labels = 0
	return p
}

// validateLabels checks the number of labels.
func (p Problem) validateLabels() error {
	switch {
	case !p.Named || p.Classes != 2:
		return check.Want("labels with masses of their own", p.Labels, "0 unless there are two classes, told apart")
	case p.Labels < 2 || p.Labels > check.MaxClasses:
		return check.Wantf("labels with masses of their own", p.Labels, "between 2 and %d", check.MaxClasses)
	}
	if n := p.Labels * (p.K + 1); n > maxHistograms {
		return tooLarge("teachers and labels", fmt.Sprintf("%d and %d", p.K, p.Labels),
			"so few that there are at most %d histograms of all labels", maxHistograms)
	}
	return nil
}

// validateYes checks the shares of yes.
func (o Prior) validateYes(p Problem) error {
	switch {
	case p.Labels == 0:
		return check.Want("shares of yes", o.Yes, "left out unless each label has masses of its own")
	case len(o.Yes) != p.Labels:
		return check.Wantf("number of shares of yes", len(o.Yes), "%d, one for each label", p.Labels)
	case o.Shares != nil || o.Counts != nil:
		return check.Want("shares of yes", o.Yes, "without other shares and without counts")
	}
	for _, yes := range o.Yes {
		if err := check.Within("share of yes", yes); err != nil {
			return err
		}
		if !(1-yes > 0) {
			return check.Want("share of yes", yes, "in (0, 1)")
		}
	}
	return nil
}

// MeanShares returns how frequent no and yes are over all labels.
func (o Prior) MeanShares() plurality.Shares {
	if len(o.Yes) == 0 {
		return o.Shares
	}
	sum := 0.0
	for _, yes := range o.Yes {
		sum += yes
	}
	mean := sum / float64(len(o.Yes))
	return plurality.Shares{1 - mean, mean}
}

// OfLabel returns the prior of one label.
func (o Prior) OfLabel(label int) Prior {
	if label >= 0 && label < len(o.Yes) {
		yes := o.Yes[label]
		o.Shares, o.Yes = plurality.Shares{1 - yes, yes}, nil
	}
	return o
}

// ofOne returns the system of one label.
func (s *System) ofOne() *System {
	one := *s
	one.problem = s.problem.ofOne()
	one.pairs = s.pairs / s.problem.parts()
	return &one
}

// masses returns those of one label.
func (s *System) masses(all []uint64, label int) []uint64 {
	n := s.space.Variables()
	return all[label*n : (label+1)*n]
}

// weights returns those of one label.
func (s *System) weights(all plurality.Weights, label int) plurality.Weights {
	from, to := label*s.space.Histograms(), (label+1)*s.space.Histograms()
	return plurality.Weights{Low: all.Low[from:to], High: all.High[from:to]}
}

// Weights returns those of one label, of the weights of all. It is the argument where there are no labels.
func (s *System) Weights(all plurality.Weights, label int) plurality.Weights {
	s = handle.Made(s)
	if s.problem.Labels == 0 || label < 0 || (label+1)*s.space.Histograms() > min(len(all.Low), len(all.High)) {
		return all
	}
	return s.weights(all, label)
}

// checkMasses checks the masses of every label.
func (s *System) checkMasses(masses []uint64) error {
	n := s.problem.parts()
	if len(masses) != n*s.space.Variables() {
		return check.Wantf("number of masses", len(masses), "%d, one for each variable", n*s.space.Variables())
	}
	for label := range n {
		if err := s.space.CheckMasses(s.masses(masses, label)); err != nil {
			return err
		}
	}
	return nil
}

// lawsOfLabels yields the laws of an answer under each pair of each label. Labels with equal masses are one.
func (s *System) lawsOfLabels(ctx context.Context, masses []uint64) game.Pairs {
	return func(yield func(game.Pair, error) bool) {
		for label := range s.problem.Labels {
			own := s.masses(masses, label)
			if s.firstOf(masses, own) < label {
				continue
			}
			for pair, err := range Laws(ctx, s.space, s.reach(), own) {
				if !yield(pair, err) {
					return
				}
			}
		}
	}
}

// firstOf returns the first label with such masses.
func (s *System) firstOf(masses, own []uint64) int {
	for label := range s.problem.Labels {
		if slices.Equal(s.masses(masses, label), own) {
			return label
		}
	}
	return s.problem.Labels
}

// weightsOfLabels returns the weights of each label, one label after the other.
func (o Prior) weightsOfLabels(ctx context.Context, s *System) (w plurality.Weights, err error) {
	one := s.ofOne()
	for label := range s.problem.Labels {
		var of plurality.Weights
		if same := slices.Index(o.Yes[:label], o.Yes[label]); same >= 0 {
			of = s.weights(w, same)
		} else if of, err = o.OfLabel(label).Weights(ctx, one); err != nil {
			return w, err
		}
		w.Low, w.High = append(w.Low, of.Low...), append(w.High, of.High...)
	}
	return w, nil
}

// valueOfLabels returns the mean of the labels' values, rounded down.
func (s *System) valueOfLabels(o Prior, w plurality.Weights, masses []uint64) float64 {
	sum := 0.0
	for label := range s.problem.Labels {
		sum = down(sum + s.namedValue(o, s.weights(w, label), s.masses(masses, label)))
	}
	return down(sum / float64(s.problem.Labels))
}

// boundOfLabels returns an upper bound on the mean of the labels' values: of each label no table that is used for
// all Q answers is worth more than its own bound.
func (s *System) boundOfLabels(o Prior, w plurality.Weights) float64 {
	one, sum := s.ofOne(), 0.0
	bounds := make([]float64, s.problem.Labels)
	for label := range bounds {
		if same := slices.Index(o.Yes[:label], o.Yes[label]); same >= 0 {
			bounds[label] = bounds[same]
		} else {
			bounds[label] = one.namedBound(o, s.weights(w, label))
		}
		sum = up(sum + bounds[label])
	}
	return min(o.perfect(), up(sum/float64(s.problem.Labels)))
}

// OfLabel returns the table of one label, from 0, where each has masses of its own. It is as private as all of them
// together. It has no bound.
func (t *Table) OfLabel(ctx context.Context, label int) (*Table, error) {
	t = handle.Made(t)
	c, err := t.Certified.OfLabel(label)
	if err != nil {
		return nil, err
	}
	one := &Table{Certified: c, Prior: t.Prior.OfLabel(label), Law: t.Law, UpperBound: t.Prior.perfect(), LawBound: 1,
		Solver: t.Solver, Version: t.Version}
	w, err := one.Prior.Weights(ctx, c.system)
	if err != nil {
		return nil, err
	}
	one.Value = c.system.Value(one.Prior, w, c.masses)
	return one, nil
}

// OfLabel returns the masses of one label, from 0, as a mechanism of its own: up to Q answers of that label cost no
// more than was proved of all labels, whose pairs have its own among them.
func (c *Certified) OfLabel(label int) (*Certified, error) {
	if err := c.whole(); err != nil {
		return nil, err
	}
	if n := c.system.problem.Labels; label < 0 || label >= n {
		return nil, check.Wantf("label", label, "one of the %d that have masses of their own, from 0", n)
	}
	one := &Certified{c.system.ofOne(), slices.Clone(c.system.masses(c.masses, label)), c.certificate}
	one.certificate.Pairs = one.system.pairs
	return one, nil
}

// byLabel returns how all labels together are treated: what is counted of each label is as likely to be asked.
// Constant is -1 where not all labels have the same one, and ConstantValue is the mean of each label's own.
func (t *Table) byLabel(ctx context.Context) (out ByClass, err error) {
	labels := t.Problem().Labels
	out = ByClass{Leads: make([]float64, 2), Recall: make([]float64, 2), Perfect: t.Prior.perfect()}
	for label := range labels {
		one, err := t.OfLabel(ctx, label)
		if err != nil {
			return ByClass{}, err
		}
		by, err := one.ByClass(ctx)
		if err != nil {
			return ByClass{}, err
		}
		for c := range out.Leads {
			out.Leads[c] += by.Leads[c] / float64(labels)
			out.Recall[c] += float64(by.Recall[c] * by.Leads[c] / float64(labels))
		}
		if out.ConstantValue += by.ConstantValue / float64(labels); label == 0 {
			out.Constant = by.Constant
		} else if by.Constant != out.Constant {
			out.Constant = -1
		}
	}
	for c, leads := range out.Leads {
		if leads > 0 {
			out.Recall[c] = math.Min(1, out.Recall[c]/leads)
		}
	}
	out.Balanced = Balanced(out.Leads, out.Recall)
	return out, nil
}
