package answer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/web/answer/chart"
)

// storyTeachers is the number of teachers of the story: few enough that one vote is seen.
const storyTeachers = 11

// storyDelta is δ of the story's labels together: less than one in a million.
const storyDelta = 1e-6

// Step is a step of the story: a figure that moves, and what it shows.
type Step struct {
	Picture string `json:"picture"` // SVG
	Says    string `json:"says"`
}

// pair returns the probability of "yes" where votes of the teachers say so, and where one more
// does.
func pair(votes int, law func(counts []int) ([]float64, error)) (without, with float64, err error) {
	a, err1 := law([]int{storyTeachers - votes, votes})
	b, err2 := law([]int{storyTeachers - votes - 1, votes + 1})
	if err := cmp.Or(err1, err2); err != nil {
		return 0, 0, err
	}
	return a[1], b[1], nil
}

// pairPicture draws both probabilities.
func pairPicture(title string, votes int, without, with float64) string {
	return (&chart.Chart{Title: title, X: "how many of 11 models say yes", Low: 0, High: 1,
		Percent: true, Bars: []chart.Bar{
			{Name: fmt.Sprintf("%d, without the record", votes), Label: num.Percent(without), Class: "c2",
				Height: without},
			{Name: fmt.Sprintf("%d, with the record", votes+1), Label: num.Percent(with), Class: "c1",
				Height: with},
		}}).SVG()
}

// story returns permute-and-flip for the story's teachers: with it every answer can be followed by
// eye, since it has no more than ε.
func story(epsilon float64) (*ensemble.Mechanism, error) {
	return ensemble.PermuteAndFlip(ensemble.Setting{K: storyTeachers, Classes: 2,
		Affected: 1, Neighbours: accountant.ReplaceOne}, epsilon)
}

// NewStep returns a step of the story: "vote" and "noise" take votes in 0..10, "noise", "labels"
// and "bill" eps in [0.01, 10], "labels" queries up to 10,000.
func NewStep(_ context.Context, s Stated, step string) (*Step, error) {
	votes, err1 := s.count("votes", "votes", 5)
	epsilon, err2 := s.number("eps", "epsilon", 1)
	queries, err3 := s.count("queries", "queries", 100)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	if votes < 0 || votes >= storyTeachers || !(epsilon >= 0.01 && epsilon <= 10) || queries < 1 ||
		queries > mostQueries {
		return nil, fmt.Errorf("votes = %d, epsilon = %v and queries = %d, but the story goes from 0 to "+
			"%d, 0.01 to 10 and 1 to %d", votes, epsilon, queries, storyTeachers-1, mostQueries)
	}
	switch step {
	case "vote":
		return oneVote(votes)
	case "noise":
		return noise(votes, epsilon)
	case "labels":
		return labels(epsilon, queries)
	case "bill":
		return bill(epsilon)
	}
	return nil, fmt.Errorf("step = %q, but it must be vote, noise, labels or bill", step)
}

// oneVote shows the majority itself.
func oneVote(votes int) (*Step, error) {
	without, with, err := pair(votes, func(counts []int) ([]float64, error) {
		p := []float64{0, 0}
		if counts[1] > counts[0] {
			p[1] = 1
		} else {
			p[0] = 1
		}
		return p, nil
	})
	says := "Here the record changes a vote and not the majority. Nobody knows beforehand which " +
		"records are the ones that decide."
	if without != with {
		says = "The majority changes with this one record. Whoever knows the other votes reads in the " +
			"published answer what the record did."
	}
	return &Step{Picture: pairPicture("How often the majority is yes", votes, without, with),
		Says: says}, err
}

// noise shows the same votes with noise.
func noise(votes int, epsilon float64) (*Step, error) {
	m, err := story(epsilon)
	if err != nil {
		return nil, err
	}
	without, with, err := pair(votes, m.Probabilities)
	return &Step{Picture: pairPicture("How often the answer is yes, with noise", votes,
		without, with), Says: fmt.Sprintf("Chance decides with the votes. With ε = %v no answer is more "+
		"than %s times as likely with the record as without it, so an answer proves little about "+
		"anybody. The less ε, the closer the bars, and the more often the answer is not the majority.",
		epsilon, factor(epsilon))}, err
}

// factor returns e^ε, rounded up.
func factor(epsilon float64) string {
	return num.Outward(num.Exp(num.Decimal(epsilon)).Upper(), 4, true)
}

// labels shows what labels of the same ε cost together.
func labels(epsilon float64, queries int) (*Step, error) {
	m, err := story(epsilon)
	if err != nil {
		return nil, err
	}
	sum := chart.Line{Name: "added up", Class: "c2", Dashed: true}
	best := chart.Line{Name: "the best bound that holds", Class: "c1"}
	last, lastSum := 0.0, 0.0
	for i := range 7 {
		n := int(math.Round(math.Pow(float64(queries), float64(i)/6)))
		total, err := m.Answers(n, storyDelta).Total()
		if err != nil {
			return nil, err
		}
		if k := len(best.X); k > 0 && best.X[k-1] == float64(n) {
			continue
		}
		added, err := accountant.Basic(n, accountant.Cost{Epsilon: epsilon})
		if err != nil {
			return nil, err
		}
		best.X, best.Y = append(best.X, float64(n)), append(best.Y, total.Cost.Epsilon)
		sum.X, sum.Y = append(sum.X, float64(n)), append(sum.Y, added.Epsilon)
		last, lastSum = total.Cost.Epsilon, added.Epsilon
	}
	c := chart.Chart{Title: "ε of all labels together", X: "labels", LogX: true, Low: 0,
		High: 1.1 * max(last, epsilon), Lines: []chart.Line{best, sum}}
	than := "the sum of all"
	if num.Outward(last, 4, true) != num.Outward(lastSum, 4, true) { // as it is shown
		than = "less than the sum of all, since chance rarely turns the same way, and more than one"
	}
	return &Step{Picture: c.SVG(), Says: fmt.Sprintf("One label costs ε = %v. Together the cost of %s "+
		"is ε = %s at δ = %v: %s. So a budget comes first, and it says how many labels there can be.",
		epsilon, num.Count(queries, "label"), num.Outward(last, 4, true), storyDelta, than)}, nil
}

// bill shows what a total cost means for a person.
func bill(epsilon float64) (*Step, error) {
	meaning, err := release.Meaning(accountant.Cost{Epsilon: epsilon, Delta: storyDelta},
		accountant.ReplaceOne)
	if err != nil {
		return nil, err
	}
	c := chart.Chart{Title: "How often a guess is right, at best", Low: 0, High: 1,
		X: "guesses that are right, of two that are equally likely before", Percent: true}
	for _, e := range []float64{0.1, 1, 2, 5, epsilon} {
		right, class := guess(e), "c2"
		name := "ε = " + strconv.FormatFloat(e, 'g', -1, 64)
		if len(c.Bars) == 4 {
			class, name = "c1", "yours: "+strconv.FormatFloat(e, 'g', -1, 64)
		}
		c.Bars = append(c.Bars, chart.Bar{Name: name, Label: num.Percent(right), Class: class,
			Height: right})
	}
	return &Step{Picture: c.SVG(), Says: meaning + fmt.Sprintf(" Who guesses which of two records "+
		"was in, and has only these labels to go by, is right in at most %s of cases; a coin in half "+
		"of them.", num.Percent(guess(epsilon)))}, nil
}

// guess returns the largest chance to tell two neighbouring datasets apart that are equally likely,
// rounded up to a hundredth of a percent: (e^ε+δ)/(e^ε+1), since the two errors of any test sum to
// at least 2(1-δ)/(1+e^ε) (Kairouz, Oh and Viswanath, 2015, Theorem 2.1). It grows with e^ε, of
// which an upper bound is taken.
func guess(epsilon float64) float64 {
	e := new(big.Rat).SetFloat64(num.Exp(num.Decimal(epsilon)).Upper())
	chance := new(big.Rat).Quo(new(big.Rat).Add(e, num.Decimal(storyDelta)),
		new(big.Rat).Add(e, big.NewRat(1, 1)))
	x := num.FromRat(chance).Upper()
	return min(1, math.Ceil(x*1e4)/1e4)
}
