package plan

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
)

// Purpose is the use of the labels. It decides which mechanism a plan ranks first.
type Purpose string

const (
	// ForStudent asks for the labels that tell a model most that is trained on them: the largest Worth.
	ForStudent Purpose = "student"
	// ForLabels asks for the labels that agree most often with the majority: each is used for itself.
	ForLabels Purpose = "labels"
)

// Purposes returns the names of all purposes, the default first.
func Purposes() []Purpose { return []Purpose{ForStudent, ForLabels} }

func (p Purpose) check() error {
	if p != "" && p != ForStudent && p != ForLabels {
		return check.Want("purpose", fmt.Sprintf("%.40q", string(p)), `"student" or "labels"`)
	}
	return nil
}

// Worth is the information of labels for a student, with equally frequent classes: see package labellaw.
type Worth struct {
	Labels float64 // so many labels without noise tell as much
	Of     int     // the labels with noise
	// Limit is what Labels tends to as Of grows, where a table is made for each number: no bound. It is 0
	// where none is known.
	Limit float64
}

// Worth returns the worth of labels of m, which have the agreement a under the law. The error is
// ctx's. It takes no time for labels with a price each, else that of some dozen prices of normal
// noise.
func (l *Law) Worth(ctx context.Context, m *ensemble.Mechanism, a Agreement, labels int) (Worth, error) {
	l = handle.Made(l)
	w := Worth{Of: labels}
	c := labellaw.Channel{Classes: l.classes, Agrees: a.Shared, Abstains: a.Abstained}
	// Labels that agree less often than a guess are guesses: only a simulation has them.
	if c.Agrees*float64(l.classes) > 1-c.Abstains {
		w.Labels = c.Worth(labellaw.Equal(l.classes), labels)
	}
	var err error
	w.Limit, err = m.WorthLimit(ctx, l.Histograms())
	return w, err
}

// Each returns the worth of one label, in [0,1].
func (w Worth) Each() float64 {
	if w.Of == 0 {
		return 0
	}
	return w.Labels / float64(w.Of)
}

// Sentence describes the worth of labels with the agreement a, for people.
func (w Worth) Sentence(a Agreement) string {
	if w.Of == 0 {
		return ""
	}
	if w.Each() > 1-1e-9 {
		return fmt.Sprintf("%s labels without noise", count(w.Of))
	}
	s := fmt.Sprintf("%s labels that agree in %s tell a student as much as %s labels without noise",
		count(w.Of), a, w)
	if w.Of == 1 {
		s = fmt.Sprintf("one label that agrees in %s tells a student as much as %s labels without noise", a, w)
	}
	if w.Limit > 0 {
		s += fmt.Sprintf("; for many labels this tends to %s", Worth{Labels: w.Limit})
	}
	return s
}

// String returns the number of labels without noise, to three digits or a tenth.
func (w Worth) String() string {
	switch {
	case w.Labels >= 10:
		return fmt.Sprintf("%.1f", w.Labels)
	case w.Labels >= 0.0995:
		return fmt.Sprintf("%.2f", w.Labels)
	}
	return fmt.Sprintf("%.2g", w.Labels)
}

func count(n int) string { return num.Thousands(big.NewInt(int64(n))) }

// worth is the least gain of useful labels over a guess, as a share of the guess's disagreement.
const worth = 0.05

// UselessError reports that even the best possible mechanism is hardly better than a guess. Then
// none was searched for.
type UselessError struct {
	PerLabel    accountant.Cost // twice the ε that was to be had
	Most, Guess float64         // how often any mechanism, and a guess, agree
}

func (e *UselessError) Error() string {
	return fmt.Sprintf("with labels of (%.4g, %.3g) no mechanism agrees in more than %.2f %%, and a "+
		"guess does in %.2f %%", e.PerLabel.Epsilon, e.PerLabel.Delta, 100*e.Most, 100*e.Guess)
}

// useless reports whether labels that agree so often are hardly better than a guess.
func (l *Law) useless(agreement float64) bool {
	guess := l.Guess()
	return agreement-guess < worth*(1-guess)
}

// most returns how often labels can agree that see the vote counts alone and are (ε, δ)-private
// where one record changes t votes, whatever the mechanism. The law treats all classes alike, so
// the best mechanism may do so too. To move v-u votes from a class with v to one with u exchanges
// the two, in k = ⌈(v-u)/t⌉ steps, so that
//
//	p(v) ≤ e^{kε}·p(u) + δ_k,   δ_k = δ·(e^{kε}-1)/(e^ε-1)
//
// and of n classes with the most votes v all together have at most
//
//	n·(1 + Σ_u e^{-kε}·δ_k)/(n + Σ_u e^{-kε}),   u over the other classes
//
// It is worked out in float64, since no promise rests on it. Cost: O(C) a histogram.
func (l *Law) most(t int, label accountant.Cost) float64 {
	mean := 0.0
	for _, c := range l.cells {
		v := slices.Max(c.counts)
		n, lost, others := 0.0, 0.0, 0.0
		for _, u := range c.counts {
			if u == v {
				n++
				continue
			}
			k := float64((v - u + t - 1) / t)
			others += math.Exp(-k * label.Epsilon)
			lost -= label.Delta * math.Expm1(-k*label.Epsilon) / math.Expm1(label.Epsilon) // e^{-kε}·δ_k
		}
		mean += c.weight / l.total * min(1, n*(1+lost)/(n+others))
	}
	return mean
}
