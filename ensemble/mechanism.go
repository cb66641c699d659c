package ensemble

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// Abstained is the answer of a Mechanism that does not name a class. It is an answer: it
// depends on the votes and costs as much as any other.
const Abstained = -1

// Mechanism answers queries by one class each, privately, from vote counts: one of those that
// Mechanisms describes. Its constructor proved what it promises. It is immutable and safe for
// concurrent use. The zero Mechanism answers nothing.
type Mechanism struct {
	name     string
	row      string // in the place of Title in a comparison; "" for none
	figures  Figures
	setting  Setting
	cost     accountant.Cost
	event    func() accountant.Event // worked out when it is asked for: see Plurality
	joint    func() *JointPrice      // likewise; nil where many answers have no price together
	basis    string
	assumes  []string
	anyVotes bool
	abstains bool
	slowLaw  bool
	rule     rule
	gnmax    *noise.Gaussian // GNMax's noise, for atVotes; nil for all others
	noise    *gamma.Certified
	table    *plurality.Certified
	answers  *answers.Certified
	priced   *noisymax.Certified
}

// known returns an event that takes no working out.
func known(e accountant.Event) func() accountant.Event {
	return func() accountant.Event { return e }
}

// rule is the mechanism by itself. Counts that it is given are valid.
type rule interface {
	// draw returns a class or Abstained.
	draw(src randsrc.Source, counts []int) (int, error)
	// law returns the probability of each class, then that of abstaining where there is one.
	law(counts []int) []float64
	// exact returns the parameters without rounding, as text; "" where a table is all of them. It is
	// part of what coins on line belong to: other words are other coins.
	exact() string
}

// Name returns the mechanism's name, one of those that Mechanisms describes unless a noise function
// of the caller's own was given another.
func (m *Mechanism) Name() string { return handle.Made(m).name }

// Title returns the name with the mechanism's parameters, to four digits, for people.
func (m *Mechanism) Title() string {
	m = handle.Made(m)
	if m.row != "" {
		return m.row
	}
	return m.name + m.figures.text(m.setting.K)
}

// Figures returns the parameters that stand in the Title, unrounded.
func (m *Mechanism) Figures() Figures { return handle.Made(m).figures }

// Parameters returns the noise exactly, as text; "" of mechanisms whose table is all of it. Of one
// Name and Setting, mechanisms without a table and with equal Parameters answer alike.
func (m *Mechanism) Parameters() string {
	m = handle.Made(m)
	if m.rule == nil { // the zero Mechanism
		return ""
	}
	return m.rule.exact()
}

// Setting returns what is presumed about the teachers.
func (m *Mechanism) Setting() Setting { return handle.Made(m).setting }

// Problem returns what the mechanism presumes of the teachers and promises of one answer. ε = +Inf
// where it presumes no promise of theirs. For DaRRM it is the problem that the noise function is
// certified for.
func (m *Mechanism) Problem() constraints.Problem {
	m = handle.Made(m)
	if m.noise != nil {
		return m.noise.Problem()
	}
	return OfCounts(m.setting, m.PerAnswer())
}

// Teachers returns the (ε, Δ) that the mechanism presumes of one vote; ε = +Inf for nothing.
func (m *Mechanism) Teachers() accountant.Cost {
	m = handle.Made(m)
	p := m.Problem()
	return accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta}
}

// NoiseFunction returns the noise function of DaRRM and its baselines, nil of other mechanisms.
func (m *Mechanism) NoiseFunction() *gamma.Certified { return handle.Copy(handle.Made(m).noise) }

// Table returns the table of the optimum of many classes, nil of other mechanisms.
func (m *Mechanism) Table() *plurality.Certified { return handle.Copy(handle.Made(m).table) }

// Abstains reports whether Abstained is among the answers.
func (m *Mechanism) Abstains() bool { return handle.Made(m).abstains }

// SlowLaw reports whether Probabilities takes so long that who needs those of many vectors of
// counts had better draw answers instead.
func (m *Mechanism) SlowLaw() bool { return handle.Made(m).slowLaw }

// PerAnswer returns the (ε, δ) that one answer costs; of ManyAnswers, all of them together. It is
// (+Inf, 1), which promises nothing, of the zero Mechanism.
func (m *Mechanism) PerAnswer() accountant.Cost {
	if m == nil || m.rule == nil {
		return accountant.Cost{Epsilon: math.Inf(1), Delta: 1}
	}
	return m.cost
}

// Event returns one answer as what an accountant is charged with, for the neighbouring
// relation of the Setting: the noise itself where the accountant knows it, which adds up
// better than PerAnswer, otherwise PerAnswer. For whether answers add up at all, see Noise. It is
// nil of the zero Mechanism.
func (m *Mechanism) Event() accountant.Event {
	m = handle.Made(m)
	if m.event == nil {
		return nil
	}
	return m.event()
}

// Noise returns an answer as one that is private by its own noise, whatever the teachers
// are: then each has randomness of its own, and answers to different queries add up also
// where the teachers were trained once. It is not ok where the promise rests on the
// teachers' randomness (DaRRM of teachers with a finite ε): such answers add up only if
// teachers draw afresh for every query. Answers takes either.
func (m *Mechanism) Noise() (n NoisyAnswer, ok bool) {
	m = handle.Made(m)
	if !m.anyVotes {
		return NoisyAnswer{}, false
	}
	return NoisyAnswer{Event: m.event(), Affected: m.setting.Affected}, true
}

// Joint returns the price of many answers of a table together; nil of mechanisms without a table
// and of those whose promise rests on the teachers'.
func (m *Mechanism) Joint() *JointPrice {
	m = handle.Made(m)
	if m.joint == nil {
		return nil
	}
	return handle.Copy(m.joint())
}

// Answers returns a number of answers by m, for Total and Bounds to price: answers of fresh
// teachers, and of those that promise nothing, add up so. slack is Answers.Slack.
func (m *Mechanism) Answers(queries int, slack float64) Answers {
	m = handle.Made(m)
	r := Answers{
		Queries: queries, PerAnswer: m.PerAnswer(), Teachers: m.Teachers(), K: m.setting.K,
		Affected:   m.setting.Affected,
		Randomness: FreshTeachers, Slack: slack,
	}
	if r.Together = m.Together(); r.Together.Most > 0 {
		r.PerAnswer, r.Slack = accountant.Cost{}, 0 // nothing composes
		return r
	}
	if noise, ok := m.Noise(); ok {
		r.Noise, r.Joint = noise, m.Joint()
	}
	return r
}

// Basis describes, for people, the proof of PerAnswer, given the Assumptions.
func (m *Mechanism) Basis() string { return handle.Made(m).basis }

// Assumptions returns, in sentences for people, what must be true of the teachers for
// PerAnswer to hold.
func (m *Mechanism) Assumptions() []string { return slices.Clone(handle.Made(m).assumes) }

// Probabilities returns the probability of each class when these are the votes, and at
// the end that of abstaining where Abstains. They sum to 1 and are within 1e-11, of GNMax's
// noise with σ ≥ 16 within 0.01/σ⁴, of DaRRM and of the optimum of many classes within 2⁻⁵³. They are not
// private: they reveal the votes. The error names the rule of the Setting that counts break, or asks for OfLabel.
func (m *Mechanism) Probabilities(counts []int) ([]float64, error) {
	m = handle.Made(m)
	if err := m.setting.CheckCounts(counts, 0); err != nil {
		return nil, err
	}
	if m.LabelTables() > 0 {
		return nil, errWhichLabel
	}
	return m.rule.law(counts), nil
}

// Answer answers one query: counts[c] of the teachers voted for class c. It returns a
// class or Abstained. With SystemCoins every call is a new private answer that costs
// PerAnswer; KeyedCoins give one row of votes one answer, which costs PerAnswer once.
// On error there is no answer, and class is neither; counts that break the Setting are refused
// before anything is drawn.
//
// Coins are made in this module alone: package release draws, and charges what is drawn. For
// research there is Simulate.
func (m *Mechanism) Answer(coins randsrc.Coins, query string,
	counts []int) (class int, err error) {
	return m.AnswerMissing(coins, query, counts, 0)
}

// AnswerMissing is Answer where the votes of some teachers are missing. Each of them
// becomes a fair coin over the classes first, in counts: then the votes are those of
// teachers who guess where they are silent, and the mechanism's promise is as it was. That
// a teacher is silent must itself be part of its privacy, or depend on no data.
func (m *Mechanism) AnswerMissing(coins randsrc.Coins, query string, counts []int,
	missing int) (class int, err error) {
	src, err := coins.Of(query, counts, missing)
	if err != nil {
		return noAnswer, err
	}
	return m.answer(src, counts, missing)
}

// Simulate answers as Answer would, with coins that follow from the seed and the query's name. It
// releases nothing: whoever knows the seed knows the votes. Errors are those of Answer.
func (m *Mechanism) Simulate(seed uint64, query string, counts []int) (class int, err error) {
	m = handle.Made(m)
	return m.Answer(randsrc.SeededCoins(seed), query, counts)
}

// noAnswer is the class beside an error. It is neither a class nor Abstained.
const noAnswer = math.MinInt

func (m *Mechanism) answer(src randsrc.Source, counts []int, missing int) (class int, err error) {
	if err := m.setting.CheckCounts(counts, missing); err != nil {
		return noAnswer, err
	}
	// One source gives both the guesses and the answer's noise: they share no coin.
	if err := complete(src, counts, missing); err != nil {
		return noAnswer, err
	}
	if class, err = m.rule.draw(src, counts); err != nil {
		return noAnswer, err
	}
	return class, nil
}

// complete gives each missing vote a class, with a fair coin over the classes.
func complete(src randsrc.Source, counts []int, missing int) error {
	for range missing {
		c, err := noise.Uniform(src, uint64(len(counts)))
		if err != nil {
			return err
		}
		counts[c]++
	}
	return nil
}

// Complete gives each missing vote of a query a class, as AnswerMissing does, with coins that follow from the
// query's number. Plans and comparisons are made of such votes; releases draw others. One vote that is missing or not
// changes one vote of that query and none of another.
func Complete(query int64, counts []int, missing int) error {
	if missing <= 0 {
		return nil
	}
	return complete(randsrc.NewSeededStream(0, uint64(query)), counts, missing)
}

// Figures are the parameters in a mechanism's Title as numbers, unrounded. What the mechanism does not
// have is 0, and left out in JSON.
type Figures struct {
	M          float64 `json:"m,omitempty"`           // privacy allowance that a noise function is for
	Drawn      int     `json:"drawn,omitempty"`       // teachers of whom the majority is taken
	Answers    int     `json:"answers,omitempty"`     // most answers of a table that is priced for all of them
	Threshold  int     `json:"threshold,omitempty"`   // votes that a check asks for
	CheckSigma float64 `json:"check_sigma,omitempty"` // σ of the check's noise
	Sigma      float64 `json:"sigma,omitempty"`       // σ of normal noise on each count
	Scale      float64 `json:"scale,omitempty"`       // b of Laplace noise on each count
}

// text returns the parameters as they follow the name in a Title of k teachers.
func (f Figures) text(k int) string {
	answers := fmt.Sprintf("%d answers", f.Answers)
	if f.Answers == 1 {
		answers = "1 answer"
	}
	switch {
	case f.M != 0:
		return fmt.Sprintf(", m = %v", f.M)
	case f.Drawn != 0:
		return fmt.Sprintf(", %d of %d", f.Drawn, k)
	case f.Answers != 0 && f.Sigma != 0:
		return fmt.Sprintf(", %s, σ = %s", answers, fourDigits(f.Sigma))
	case f.Answers != 0:
		return ", " + answers
	case f.Threshold != 0:
		return fmt.Sprintf(", %d votes, σ = %s and %s", f.Threshold, fourDigits(f.CheckSigma),
			fourDigits(f.Sigma))
	case f.Sigma != 0:
		return ", σ = " + fourDigits(f.Sigma)
	case f.Scale != 0:
		return ", b = " + fourDigits(f.Scale)
	}
	return ""
}
