package plan

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/poissonbinom"
)

// Says is how likely a teacher says yes to a label that is yes where at least From of the Teachers say yes: see
// YesLaw.
type Says struct {
	WhereNo, WhereYes float64
	From, Teachers    int
}

// saying returns what is presumed of teachers, whose answers are as clear on either side of the threshold as those of
// mean μ are on either side of one half: with θ = (T-½)/K for T of K teachers,
//
//	odds of yes = θ/(1-θ) · μ/(1-μ)   where the label is yes, and  θ/(1-θ) · (1-μ)/μ  where it is no
func saying(s ensemble.Several, mean float64) Says {
	from := float64(s.From()) - 0.5
	odds := from / (float64(s.Teachers) - from)
	clear := mean / (1 - mean)
	of := func(odds float64) float64 { return odds / (1 + odds) }
	return Says{of(odds / clear), of(float64(odds * clear)), s.From(), s.Teachers}
}

// yesCounts returns how often each number of all votes for yes, public ones among them, is expected, where labels
// are yes in such a share of questions.
func yesCounts(s ensemble.Several, says Says, share float64) []float64 {
	_, public := s.Public()
	counts := make([]float64, s.Votes(s.Teachers)+1)
	no, yes := poissonbinom.Binomial(s.Teachers, says.WhereNo), poissonbinom.Binomial(s.Teachers, says.WhereYes)
	for n := range no {
		// To 12 digits, which files state.
		text := strconv.FormatFloat(float64(share*yes[n])+float64((1-share)*no[n]), 'g', 12, 64)
		counts[public+n], _ = strconv.ParseFloat(text, 64)
	}
	return counts
}

// YesLaw returns the law of all votes on a label, public ones among them, where labels are yes from another number of
// teachers on than half (ensemble.Several.YesFrom). Each teacher says yes by itself with the probability that
// [Law.Says] returns, for clear answers of mean μ in (0.5, 1), 0 for the default; labels are yes as often as the
// losses' shares say, else in half of the questions. Cost: O(K²).
func YesLaw(s ensemble.Several, mean float64, losses Losses) (*Law, error) {
	if s.YesFrom == "" || s.Teachers < 1 {
		return nil, check.Want("several", fmt.Sprintf("%+v", s), "labels that are yes from a stated number of teachers on, who are known")
	}
	if losses.Yes != nil {
		return nil, check.Want("yes from", s.YesFrom, "left out beside shares of each label: state one share of yes for all of them")
	}
	mean = cmp.Or(mean, gamma.DefaultPriorMean)
	if err := cmp.Or(s.Validate(), check.PriorMean(mean), losses.Shares.Validate(2)); err != nil {
		return nil, err
	}
	votes := s.Votes(s.Teachers)
	l, err := newLaw(votes, 2)
	if err != nil {
		return nil, err
	}
	l.named, l.mean = losses.Stated(), mean
	l.says = new(saying(s, mean))
	share := 0.5
	if losses.Shares != nil {
		share = losses.Shares[1]
	}
	l.yes = yesCounts(s, *l.says, share)
	for n, weight := range l.yes {
		if weight > 0 {
			if err := l.AddTimes([]int{votes - n, n}, weight); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// Says returns what a YesLaw presumes of teachers; ok is false of other laws.
func (l *Law) Says() (s Says, ok bool) {
	if l == nil || l.says == nil {
		return Says{}, false
	}
	return *l.says, true
}

// Rule says what agrees with the votes, for people.
func (s Says) Rule() string {
	return fmt.Sprintf("yes is right where at least %d of %d teachers say yes, and no elsewhere", s.From, s.Teachers)
}

// String describes the teachers, for people.
func (s Says) String() string {
	return fmt.Sprintf("each teacher says yes with probability %s where the label is yes and %s where it is no",
		num.Percent(s.WhereYes), num.Percent(s.WhereNo))
}

// ByName makes o, an objective of agreement, the one of the noise function that is best for the votes that the request
// presumes, of this mean, 0 for the default, and for its losses.
func (r *Request) ByName(o *solve.Options, votes int, mean float64) error {
	r = handle.Made(r)
	if err := r.Losses.ByName(o, votes, mean); err != nil || r.Several.YesFrom == "" {
		return err
	}
	l, err := YesLaw(r.Several, mean, r.Losses)
	if err != nil {
		return err
	}
	o.Counts, o.PriorMean = l.yes, 0
	if !r.Losses.Stated() {
		o.Shape = gamma.Any
	}
	return nil
}

// yesPrior makes o the objective of a table of these votes, as ByName does.
func (r *Request) yesPrior(o plurality.Objective) (plurality.Objective, error) {
	if r.Several.YesFrom == "" {
		return o, nil
	}
	l, err := YesLaw(r.Several, r.Votes.mean, r.Losses)
	if err != nil {
		return o, err
	}
	o = plurality.Objective{}
	for n, count := range l.yes {
		if count > 0 {
			o.Counts = append(o.Counts, plurality.HistogramCount{Votes: []int{r.votes() - n, n}, Count: count})
		}
	}
	return o, nil
}
