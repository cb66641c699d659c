package release

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/ledger"
)

// nearlySpent is the share of ε below which what is left hardly pays for anything.
const nearlySpent = 1e-3

// SpentUp says in words that all of ε is spent of what was granted, or nearly all; "" where more is
// left.
func SpentUp(remaining, granted Amount) string {
	left, _ := remaining.Epsilon.Float64()
	of, _ := granted.Epsilon.Float64()
	switch {
	case remaining.Epsilon == "0":
		return "all of ε is spent: nothing more can be charged"
	case left < nearlySpent*of:
		return fmt.Sprintf("all of ε but %s is spent", short(left, false))
	}
	return ""
}

// share returns the part of ε and of δ that is spent, in percent, rounded up to a tenth.
func share(spent, granted ledger.Cost) (out [2]float64) {
	e, d := spent.Ceil()
	ofE, ofD := granted.Floor()
	for i, x := range [2][2]float64{{e, ofE}, {d, ofD}} {
		if x[0] > 0 {
			out[i] = min(100, math.Ceil(1000*x[0]/x[1])/10)
		}
	}
	return out
}

// short is x in six digits, rounded up or down, with no zero before the exponent.
func short(x float64, up bool) string { return digits(x, 6, up) }

func digits(x float64, n int, up bool) string {
	return strings.Replace(num.Outward(x, n, up), "e-0", "e-", 1)
}

// Meaning explains the promise of releases that cost (ε, δ) together to one person. It takes finite
// ε ≥ 0 and δ in [0, 1).
func Meaning(cost accountant.Cost, relation accountant.Relation) (string, error) {
	c, err := ledger.NewCost(cost.Epsilon, cost.Delta)
	if err != nil {
		return "", err
	}
	return meaning(c, relation), nil
}

// meaning explains the promise of (ε, δ) to one person.
func meaning(spent ledger.Cost, relation ledger.Relation) string {
	if spent == (ledger.Cost{}) {
		return "Nothing was spent: no release that was charged here tells anything about anybody."
	}
	others := "with another in its place"
	if relation == ledger.AddOrRemoveOne {
		others = "without it, and the other way round"
	}
	times, plus := odds(spent)
	return fmt.Sprintf("Whatever anybody concludes from all these releases together is at most %s "+
		"times as likely with a person's record as %s%s.", times, others, plus)
}

// verdict returns the sentence on how much of a ledger's budget is spent, and what that means.
func verdict(spent, granted ledger.Cost, share [2]float64) string {
	switch {
	case spent == (ledger.Cost{}):
		return "Nothing was spent: the whole budget is left."
	case worthless(spent) != nil:
		return "What was spent protects nobody."
	}
	if text := SpentUp(NewAmount(granted.Minus(spent)), NewAmount(granted)); text != "" {
		return strings.ToUpper(text[:1]) + text[1:] + "."
	}
	within := fmt.Sprintf("Within the budget: %v %% of ε and %v %% of δ are spent.", share[0],
		share[1])
	if worthless(granted) != nil {
		within += " The whole budget would protect nobody."
	}
	return within
}

// limit explains that promise for the whole budget, when nothing remains.
func limit(granted ledger.Cost) string {
	times, plus := odds(granted)
	return fmt.Sprintf("Once the whole budget is spent, it is at most %s times as likely%s.", times,
		plus)
}

// odds returns e^ε, and in words the chance δ, both rounded up.
func odds(c ledger.Cost) (times, plus string) {
	epsilon, delta := c.Ceil()
	times = "e^" + short(epsilon, true)
	if factor := math.Exp(epsilon); factor < 1e6 {
		// Up, by more than Exp may be off.
		times = strconv.FormatFloat(math.Ceil(factor*(1+1e-12)*100)/100, 'f', 2, 64)
	}
	if delta > 0 {
		plus = ", plus a chance of at most " + digits(delta, 3, true)
		plus += oneIn(c)
	}
	return times, plus
}

// oneIn returns a δ ≤ 1/2 as "one in so many", in words that everybody knows; "" beyond a trillion.
// The number is rounded down, which makes the chance no smaller.
func oneIn(c ledger.Cost) string {
	_, delta := c.Rat()
	if delta.Sign() <= 0 {
		return ""
	}
	many := new(big.Int).Quo(delta.Denom(), delta.Num())
	if !many.IsInt64() || many.Int64() < 2 || many.Int64() >= 1e15 {
		return ""
	}
	n, unit := many.Int64(), ""
	for _, name := range []string{" thousand", " million", " billion", " trillion"} {
		if n < 1000 {
			break
		}
		n, unit = n/1000, name
	}
	return fmt.Sprintf(" (one in %d%s)", n, unit)
}

// Assumption is something that no ledger can see and that its promises rest on.
type Assumption struct {
	Text     string   `json:"text"`
	Requests []string `json:"requests,omitempty"` // that rest on it; none where all do
}

// general returns the assumptions of every promise of a ledger.
func general(relation ledger.Relation) []Assumption {
	neighbours := "Two sets of data are neighbours, and every cost is stated for that, "
	switch relation {
	case ledger.ReplaceOne:
		neighbours += "if one person's record is replaced by another. A person has one record."
	case ledger.AddOrRemoveOne:
		neighbours += "if one of them has one person's record more. A person has one record."
	}
	return []Assumption{
		{Text: "Everything that was released from these people's data was charged to this ledger. A " +
			"release elsewhere is not in these sums."},
		{Text: neighbours},
		{Text: "Every release had fresh randomness. Costs add up (basic composition), also where later " +
			"releases were chosen after seeing earlier ones."},
		{Text: "What to release was decided without the private data: the queries, their number, the " +
			"mechanism and its ε and δ. Only earlier releases may have been looked at."},
		{Text: "The machines that released were trusted with the private data, and the times are by " +
			"their clocks."},
		{Text: "Nobody replaced the ledger and its anchor by older copies, or wrote entries of his " +
			"own. The head at the end of this page names the state that was read: compare it with a head " +
			"that was kept elsewhere."},
	}
}

// assumptions collects what releases rest on, each text once, with the requests.
type assumptions struct{ list []Assumption }

func (a *assumptions) add(id, text string) {
	i := slices.IndexFunc(a.list, func(x Assumption) bool { return x.Text == text })
	if i < 0 {
		i = len(a.list)
		a.list = append(a.list, Assumption{Text: text})
	}
	a.list[i].Requests = append(a.list[i].Requests, id)
}

// of adds what one charge rests on.
func (a *assumptions) of(e *ledger.Entry) {
	event, ok := labelEvent(e)
	if !ok {
		m, model := modelEvent(e.Event)
		switch {
		case model && strings.HasPrefix(e.ID, runPrefix):
			run := fmt.Sprintf("The run was as stated: %s, for %s, its cost accounted for by mode %s. %s",
				m.Method, m.length(), m.Mode, m.Assumes)
			a.add(e.ID, visible(strings.TrimSpace(run)))
		case m.Part != "":
			a.add(e.ID, "The randomness of an answer of a run is known to nobody but who answered.")
		case model:
			a.add(e.ID, visible(fmt.Sprintf("The model was trained as stated: by %s, for %s, its cost "+
				"accounted for by mode %s. Its intermediate states were shown to nobody, unless that mode "+
				"allows it.", m.Method, m.length(), m.Mode)))
		default:
			a.add(e.ID, "The cost was stated by whoever charged it. Nothing in the ledger says what it "+
				"follows from.")
		}
		return
	}
	if p := event.PerTeacher; p != nil && e.PaidBy == "" {
		promise := fmt.Sprintf("(%v, %v)-differentially private, with randomness of its own", p.Epsilon,
			p.Delta)
		if event.Teachers == string(ensemble.FrozenTeachers) {
			a.add(e.ID, fmt.Sprintf("The training of each of the %d teachers was %s.", event.K, promise))
		} else {
			a.add(e.ID, fmt.Sprintf("Each vote of each of the %d teachers was a new run of a mechanism "+
				"that is %s.", event.K, promise))
		}
	}
	if event.Affected < event.K {
		a.add(e.ID, fmt.Sprintf("One person's record reaches at most %d of the %d teachers.",
			event.Affected, event.K))
	}
	if strings.HasPrefix(e.PaidBy, teachersPrefix) {
		a.add(e.ID, fmt.Sprintf("The teachers that answered are those of ensemble %s whose training "+
			"was charged.", e.Ensemble))
	}
	if d := e.Draw; d != nil && !d.Covers && e.PaidBy == "" {
		a.add(e.ID, "The teachers cast the votes for this draw, and answer no other draw with them.")
	}
	if event.Key != "" {
		a.add(e.ID, "The secret that the noise was drawn from is known to nobody who sees the release.")
	}
}
