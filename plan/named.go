package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// Losses state how classes differ: how frequent they are, and what wrong answers cost. Both must be
// public. The zero value states nothing: then classes are alike.
type Losses struct {
	Shares plurality.Shares // nil for equal shares, and where each label has a share of yes
	Costs  plurality.Costs  // nil for agreement, which costs that are all 1 are too
	// Yes has the share of yes of each label of a question, nil where one table answers all. See LabelShares.
	Yes []float64
}

// ClassShares returns how frequent the classes are: over all labels, where each has a share of yes.
func (l Losses) ClassShares() plurality.Shares {
	if l.Yes != nil {
		return answers.Prior{Yes: l.Yes}.MeanShares()
	}
	return slices.Clone(l.Shares)
}

// LabelShares returns the losses of labels of a question with these shares of yes, each for itself. Where all are
// equal, one table answers all labels.
func LabelShares(yes []float64) Losses {
	switch {
	case len(yes) == 0:
		return Losses{}
	case slices.Max(yes) == slices.Min(yes):
		return Losses{Shares: plurality.Shares{1 - yes[0], yes[0]}}
	}
	return Losses{Yes: slices.Clone(yes)}
}

// Prior returns the prior of a table for many answers with the losses.
func (l Losses) Prior(o plurality.Objective) answers.Prior {
	return answers.Prior{Objective: o, Shares: l.Shares, Costs: l.Costs.Uneven(), Yes: l.Yes}
}

// Agreement returns how often labels of m are expected to agree: by the law, or, where each label of a question has a
// table of its own, by that of each label's share.
func (l Losses) Agreement(ctx context.Context, law *Law, m *ensemble.Mechanism) (a Agreement, err error) {
	if m == nil || m.LabelTables() == 0 {
		return law.Agreement(ctx, m)
	}
	if len(l.Yes) != m.LabelTables() {
		return a, check.Wantf("number of shares of yes", len(l.Yes), "%d, one for each label that has a table of its own: state the shares that it "+
			"was solved for", m.LabelTables())
	}
	n := float64(len(l.Yes))
	for label, yes := range l.Yes {
		own, err := NamedLaw(law.k, 2, law.mean, plurality.Shares{1 - yes, yes})
		if err != nil {
			return a, err
		}
		one, err := m.OfLabel(label)
		if err != nil {
			return a, err
		}
		of, err := own.Agreement(ctx, one)
		if err != nil {
			return a, err
		}
		a.Expected += of.Expected / n
		a.Shared += of.Shared / n
	}
	return a, nil
}

// Stated reports whether the classes are told apart: costs that are all 1 do not.
func (l Losses) Stated() bool { return l.Shares != nil || l.Yes != nil || l.Costs.Uneven() != nil }

// ByName makes o, an objective of agreement, the one of the noise function of k teachers that is
// best for the stated losses of two classes: for the counts that follow from the shares and votes
// of this mean, 0 for the default, and for the costs. It does not change o where nothing is stated.
func (l Losses) ByName(o *solve.Options, k int, mean float64) error {
	if !l.Stated() {
		return nil
	}
	shares := l.ClassShares()
	if err := cmp.Or(shares.Validate(2), l.Costs.Validate(2)); err != nil {
		return err
	}
	o.Shape = gamma.ByName
	if shares != nil {
		var err error
		if o.Counts, err = gamma.SharedCounts(k, cmp.Or(mean, gamma.DefaultPriorMean), shares[1]); err != nil {
			return err
		}
	}
	if l.Costs.Uneven() != nil {
		o.Costs = [2]float64{l.Costs[0][1], l.Costs[1][0]}
	}
	return nil
}

// LossesOf returns the losses that a table is for; none where it treats the classes alike.
func LossesOf(t *answers.Table) Losses {
	if t == nil {
		return Losses{}
	}
	l := LabelShares(t.Prior.Yes)
	if l.Costs = t.Prior.Costs; t.Prior.Yes == nil {
		l.Shares = t.Prior.Shares
	}
	return l
}

// Equal reports whether both state the same: costs that are all 1 are those of agreement.
func (l Losses) Equal(m Losses) bool {
	return l.Prior(plurality.Objective{}).Equal(m.Prior(plurality.Objective{}))
}

// Text describes the losses of classes, and of labels of a question, with these names, for people.
func (l Losses) Text(names []string, labels ...string) string {
	var words []string
	o := ReportOptions{Classes: names, Labels: labels}
	for c, q := range l.Shares {
		words = append(words, fmt.Sprintf("%s %v", o.class(c), q))
	}
	text := "equal shares"
	if l.Yes != nil {
		text = "shares of yes " + o.each(l.Yes)
	} else if words != nil {
		text = "shares " + strings.Join(words, ", ")
	}
	words = nil
	for a, row := range l.Costs {
		for b, x := range row {
			if a != b {
				words = append(words, fmt.Sprintf("%s:%s %v", o.class(a), o.class(b), x))
			}
		}
	}
	if words != nil {
		text += "; costs of answered:plurality " + strings.Join(words, ", ")
	}
	return text
}

// NamedLaw returns the law of votes of classes that have stated shares: that of
// plurality.Objective.SharedWeights, of Accuracy mean unless it is 0, else of the default of so many
// classes. Its histograms are not sorted. There may be at most 10,000 of them. Cost: that of SharedWeights.
func NamedLaw(k, classes int, mean float64, shares plurality.Shares) (*Law, error) {
	var prior plurality.Objective
	switch {
	case mean == 0 && classes > 2:
		prior.Concentration = plurality.DefaultConcentration
	default:
		prior.Accuracy = cmp.Or(mean, gamma.DefaultPriorMean)
		if err := plurality.CheckAccuracy(prior.Accuracy, classes); err != nil {
			return nil, err
		}
	}
	return NamedPrior(k, classes, prior, shares)
}

// NamedPrior is NamedLaw of any law of votes, public counts among them, which have shares of their own.
func NamedPrior(k, classes int, prior plurality.Objective, shares plurality.Shares) (*Law, error) {
	l, err := newLaw(k, classes)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(prior.Validate(plurality.Problem{Classes: classes}), shares.Validate(classes)); err != nil {
		return nil, err
	}
	if n := plurality.NamedHistograms(k, classes); n > exactHistograms {
		return nil, check.Wantf("teachers and classes", fmt.Sprintf("%d and %d", k, classes), "so few that there are at most "+
			"%d histograms of classes that are told apart", exactHistograms)
	}
	l.named, l.shares = true, slices.Clone(shares)
	l.mean, l.concentration = prior.Accuracy, prior.Concentration
	space := plurality.NewNamedSpace(k, classes)
	w, err := prior.SharedWeights(context.Background(), space, shares)
	if err != nil {
		return nil, err
	}
	for h, weight := range w.Low {
		if weight > 0 {
			if err := l.AddTimes(space.Histogram(h), weight); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// Named reports whether the law tells the classes apart.
func (l *Law) Named() bool { return handle.Made(l).named }

// checkLosses refuses what does not go with classes that are told apart, and fills in what follows from it.
func (r *Request) checkLosses() error {
	if err := r.Losses.Costs.Validate(r.Classes); err != nil {
		return err
	}
	r.Losses.Costs = r.Losses.Costs.Uneven()
	if !r.Losses.Stated() {
		return nil
	}
	if err := r.Losses.ClassShares().Validate(r.Classes); err != nil {
		return err
	}
	const name = "shares and costs"
	switch {
	case r.Losses.Yes != nil && len(r.Losses.Yes) != r.Several.Labels:
		return check.Wantf("number of shares of yes", len(r.Losses.Yes), "%d, the number of labels of a question", r.Several.Labels)
	case r.Losses.Yes != nil && r.Several.YesFrom != "":
		return check.Want("yes from", r.Several.YesFrom, "left out beside a share of yes for each label: it goes with one share for all")
	case r.Missing && (r.Classes > 2 || r.Several.Labels > 0):
		return check.Want(name, "given", "left out where a missing vote is none (abstain) of more than two classes: a coin gives each a class")
	case r.For == ForStudent:
		return check.Want(name, "given", "left out for a student, who loses nothing by a table that treats the classes alike")
	}
	// What reaches an agreement is known of classes that are alike only.
	r.For, r.Agreement = ForLabels, 0
	if r.Votes == nil {
		var err error
		r.Votes, err = NamedLaw(r.votes(), r.Classes, 0, r.Losses.ClassShares())
		return err
	}
	return nil
}

// purpose is For with its default.
func (r *Request) purpose() Purpose {
	if r.Losses.Stated() {
		return ForLabels
	}
	return cmp.Or(r.For, ForStudent)
}

// ReportedClasses describes how a table treats classes that are not alike, by the prior.
type ReportedClasses struct {
	Value float64 `json:"value"` // agreement, or minus the expected cost of an answer
	// of each class: how often it is answered where it has the most votes; null if it never has
	Recall        []*float64 `json:"recall"`
	Balanced      float64    `json:"balanced"` // the mean of those that are known
	Constant      string     `json:"constant"` // the class that is worth most where it is always answered
	ConstantValue float64    `json:"constant_value"`
	Tells         bool       `json:"tells"` // false where the constant is as good
	// of each label of a question that has a table of its own
	Labels []ReportedLabel `json:"labels,omitempty"`
}

// ReportedLabel describes how the table of one label treats no and yes, by its share of yes.
type ReportedLabel struct {
	Label         string     `json:"label"`
	Yes           float64    `json:"yes"`   // its stated share
	Value         float64    `json:"value"` // agreement, or minus the expected cost of an answer
	Recall        []*float64 `json:"recall"`
	Constant      string     `json:"constant"`
	ConstantValue float64    `json:"constant_value"`
	Tells         bool       `json:"tells"`
}

// eachLabel describes the labels of a table that has masses for each.
func (o ReportOptions) eachLabel(t *answers.Table) (all []ReportedLabel) {
	if t == nil {
		return nil
	}
	for label := range t.Problem().Labels {
		one, err := t.OfLabel(context.Background(), label)
		if err != nil { // there is such a label
			return nil
		}
		by, err := one.ByClass(context.Background())
		if err != nil {
			return nil
		}
		all = append(all, ReportedLabel{o.label(label), t.Prior.Yes[label], one.Value, recallOf(by), o.class(by.Constant),
			by.ConstantValue, by.Tells(one.Value)})
	}
	return all
}

// recallOf returns the recall of each class, nil of one that never leads.
func recallOf(by answers.ByClass) []*float64 {
	recall := make([]*float64, len(by.Recall))
	for c := range recall {
		if by.Leads[c] > 0 {
			recall[c] = &by.Recall[c]
		}
	}
	return recall
}

// label returns the name of a label of a question.
func (o ReportOptions) label(label int) string {
	if label < len(o.Labels) {
		return o.Labels[label]
	}
	return strconv.Itoa(label)
}

// each lists a number of each label.
func (o ReportOptions) each(of []float64) string {
	var words []string
	for label, x := range of {
		words = append(words, fmt.Sprintf("%s %v", o.label(label), x))
	}
	return strings.Join(words, ", ")
}

// ByClassOfNoise returns how a noise function that tells the labels apart treats the two classes, and its value:
// agreement, or minus the expected cost of an answer. It is the zero value of others.
func ByClassOfNoise(t *gamma.Table) (by answers.ByClass, value float64) {
	if t == nil || t.Certified == nil || t.Shape != gamma.ByName {
		return by, 0
	}
	labels := t.ByLabel(t.Func())
	by = answers.ByClass{Leads: labels.Leads[:], Recall: labels.Recall[:], Balanced: answers.Balanced(labels.Leads[:], labels.Recall[:]),
		Constant: labels.Constant, ConstantValue: -labels.ConstantError}
	if value = -t.ExpectedError; t.Costs == [2]float64{} {
		by.Perfect, by.ConstantValue, value = 1, 1+by.ConstantValue, 1+value
	}
	return by, value
}

// ByClass describes a choice that tells the classes apart. It is nil for other choices.
func (o ReportOptions) ByClass(c Choice) *ReportedClasses {
	by, value := c.byClass()
	if by.Recall == nil {
		return nil
	}
	return &ReportedClasses{value, recallOf(by), by.Balanced, o.class(by.Constant), by.ConstantValue, by.Tells(value),
		o.eachLabel(c.Answers)}
}

// byClass returns how the choice's table treats classes that are told apart, and its value; the zero value of others.
func (c Choice) byClass() (by answers.ByClass, value float64) {
	if c.Answers == nil || !c.Answers.Problem().Named {
		return ByClassOfNoise(c.Noise)
	}
	by, err := c.Answers.ByClass(context.Background())
	if err != nil { // only where the context ends
		return answers.ByClass{}, 0
	}
	return by, c.Answers.Value
}

// Recalls says how often each class is answered where it has the most votes, nil where it never has.
func (o ReportOptions) Recalls(recall []*float64) string {
	var words []string
	for c, r := range recall {
		if r == nil {
			words = append(words, o.class(c)+" (no query leads to it)")
		} else {
			words = append(words, fmt.Sprintf("%s in %s", o.class(c), num.Percent(*r)))
		}
	}
	return strings.Join(words, ", ")
}

// ClassNotes describes, in whole sentences, a choice that tells the classes apart: what labels are worth beside
// always the same answer, and how often each class is answered. It is nil for other choices.
func (o ReportOptions) ClassNotes(c Choice) []string {
	by := o.ByClass(c)
	if by == nil {
		return nil
	}
	value := fmt.Sprintf("Labels are expected to agree with the majority in %s; always answering %s agrees in %s.",
		num.Percent(by.Value), by.Constant, num.Percent(by.ConstantValue))
	if by.ConstantValue <= 0 { // minus a cost
		value = fmt.Sprintf("A label is expected to cost %.6g; always answering %s costs %.6g.", math.Abs(by.Value),
			by.Constant, math.Abs(by.ConstantValue))
	}
	notes := []string{value, fmt.Sprintf("Each class is answered, where it has the most votes, alone or with another: %s; in the mean in %s.",
		o.Recalls(by.Recall), num.Percent(by.Balanced))}
	if !by.Tells {
		notes = append(notes, fmt.Sprintf("Always answering %s is as good as this table, to a thousandth of what labels without "+
			"noise would gain: its labels tell nothing.", by.Constant))
	}
	return append(notes, o.labelNotes(by.Labels)...)
}

// labelNotes describes labels that have a table each.
func (o ReportOptions) labelNotes(labels []ReportedLabel) []string {
	if labels == nil {
		return nil
	}
	var words, silent []string
	for _, l := range labels {
		yes := "never leads"
		if l.Recall[1] != nil {
			yes = num.Percent(*l.Recall[1])
		}
		words = append(words, fmt.Sprintf("%s (share %v) %s", l.Label, l.Yes, yes))
		if !l.Tells {
			silent = append(silent, fmt.Sprintf("%s (%s)", l.Label, l.Constant))
		}
	}
	notes := []string{"Each label has a table for its own share of yes, and all have one price. Yes is answered, where it has the " +
		"most votes, in: " + strings.Join(words, ", ") + "."}
	if silent != nil && len(silent) < len(labels) { // of labels that all tell nothing it is said once
		notes = append(notes, "Of these labels always the same answer is as good, to a thousandth of what labels without noise "+
			"would gain: "+strings.Join(silent, ", ")+". Leaving them out makes the others better where a question is then "+
			"charged as fewer answers.")
	}
	return notes
}

// lossNotes describes the first choice to a person who stated shares or costs.
func (o ReportOptions) lossNotes(best Choice) []string {
	notes := o.ClassNotes(best)
	if by := o.ByClass(best); by != nil && !by.Tells {
		notes = append(notes, o.text("Nothing is spent on labels that tell nothing unless it is accepted (%s).", pAcceptConstant))
	}
	return notes
}
