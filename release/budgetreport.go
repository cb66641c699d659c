package release

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/ledger"
)

// BudgetReport is a report on a ledger for the person who answers for it: the budget, the releases
// with their times and promises, the budget left, and the assumptions of all that. It has nothing
// that was computed from private data but the digests of what was released, and the head, which is
// a hash of all entries and so of keyed digests of votes: no votes, no labels, nothing by which two
// draws of equal votes differ from others.
type BudgetReport struct {
	Ledger string        `json:"ledger"`          // the file's name, without its folder
	About  *ledger.About `json:"about,omitempty"` // as it was made, nil for nothing
	BudgetBalance
	// of ε and of δ that is spent, in percent, rounded up
	Share    [2]float64    `json:"share"`
	Verdict  string        `json:"verdict"` // what is spent of the budget, in words
	Meaning  string        `json:"meaning"` // what was spent promises a person, in words
	Limit    string        `json:"limit"`   // what the whole budget would promise, in words
	Short    ShortBudget   `json:"-"`
	Warnings []string      `json:"warnings,omitempty"`
	Releases []ReportEntry `json:"charges"`
	Assumed  []Assumption  `json:"assumed"`
	BudgetHead
}

// BudgetBalance is what a budget is, and what of it is spent and left.
type BudgetBalance struct {
	Neighbours ledger.Relation `json:"neighbours"`
	Granted    Amount          `json:"granted"`
	Spent      Amount          `json:"spent"`     // rounded up, as every cost
	Remaining  Amount          `json:"remaining"` // granted less spent, exactly
}

// BudgetHead names a state of a ledger.
type BudgetHead struct {
	Entries uint64 `json:"entries"`
	Head    string `json:"head"`
}

func balance(l *ledger.Ledger, spent ledger.Cost) BudgetBalance {
	granted := l.Budget().Cost()
	return BudgetBalance{l.Relation(), NewAmount(granted), NewAmount(spent), NewAmount(granted.Minus(spent))}
}

func budgetHead(h ledger.Head) BudgetHead { return BudgetHead{h.Seq, h.String()} }

// BudgetState is the part of a [BudgetReport] that needs no reading of the charges themselves.
type BudgetState struct {
	Ledger string `json:"ledger"`
	BudgetBalance
	Share   [2]float64 `json:"share"`
	Meaning string     `json:"meaning"`
	Limit   string     `json:"limit"`
	BudgetHead
	Simulated bool `json:"simulated,omitempty"` // the ledger is one to try
}

// NewBudgetState reports a state of the ledger.
func NewBudgetState(l *ledger.Ledger, now ledger.State) BudgetState {
	granted := l.Budget().Cost()
	return BudgetState{
		shortName(l.Path()), balance(l, now.Spent), share(now.Spent, granted), meaning(now.Spent, l.Relation()),
		limit(granted), budgetHead(now.Head), l.Simulated(),
	}
}

// ShortBudget is ε and δ in six digits for people: what was spent rounded up, what remains down.
type ShortBudget struct{ Spent, Remaining [2]string }

func newShortBudget(spent, granted ledger.Cost) (s ShortBudget) {
	spentE, spentD := spent.Ceil()
	leftE, leftD := granted.Minus(spent).Floor()
	s.Spent = [2]string{short(spentE, true), short(spentD, true)}
	s.Remaining = [2]string{short(leftE, false), short(leftD, false)}
	return s
}

// warnings returns the warnings of a ledger to try, and of a sum that promises hardly anything.
func warnings(l *ledger.Ledger, spent ledger.Cost) (out []string) {
	if l.Simulated() {
		out = append(out, "no release: the ledger is in memory, and forgotten when its program ends")
	}
	return append(out, worthless(spent)...)
}

// worthless warns of a sum that promises hardly anything.
func worthless(spent ledger.Cost) (warnings []string) {
	epsilon, delta := spent.Ceil()
	if reason, is := ensemble.Worthless(accountant.Cost{Epsilon: epsilon, Delta: delta}, 0); is {
		warnings = append(warnings, "what was spent: "+reason)
	}
	return warnings
}

// Amount is a cost of a ledger in JSON: exact decimals, since float64s would round.
type Amount struct {
	Epsilon json.Number `json:"epsilon"`
	Delta   json.Number `json:"delta"`
}

// NewAmount returns the cost as decimals.
func NewAmount(c ledger.Cost) Amount {
	e, d := c.Decimals()
	return Amount{json.Number(e), json.Number(d)}
}

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

// ReportEntry is one charge of a ledger.
type ReportEntry struct {
	Seq    uint64    `json:"seq"`
	ID     string    `json:"request"`
	Time   time.Time `json:"time"` // by the clock of the machine that charged
	What   string    `json:"what"`
	Cost   Amount    `json:"cost"`              // of the whole charge
	Rule   string    `json:"rule,omitempty"`    // what the cost follows from
	PaidBy string    `json:"paid_by,omitempty"` // the earlier charge that covers this one, at no cost
	Who    string    `json:"ensemble,omitempty"`
	Reach  string    `json:"reach,omitempty"`  // how many teachers one record reaches, in words
	Result string    `json:"sha256,omitempty"` // of what is released; "" where the ledger has none
	// Quota is of a charge that pays for a number of answers of a table; nil of others.
	Quota *AnswersUsed `json:"quota,omitempty"`
	// Shared marks a charge that is no release itself: it pays for others.
	Shared bool `json:"shared,omitempty"`
}

// Assumption is something that no ledger can see and that its promises rest on.
type Assumption struct {
	Text     string   `json:"text"`
	Requests []string `json:"requests,omitempty"` // that rest on it; none where all do
}

// shortName is the name of a file; a ledger in a database is named in full.
func shortName(location string) string {
	if ledger.IsFile(location) {
		return filepath.Base(location)
	}
	return location
}

// NewBudgetReport verifies the ledger and reports its state. Errors are those of
// [ledger.Ledger.History]. Cost: that of History.
func NewBudgetReport(ctx context.Context, l *ledger.Ledger) (*BudgetReport, error) {
	// Before the entries: if there are none then, there were none now.
	empty, err := l.Head(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := l.History(ctx)
	if err != nil {
		return nil, err
	}
	granted := l.Budget().Cost()
	// The sum of these entries, not what the ledger says now: somebody may charge meanwhile.
	var spent ledger.Cost
	for i := range entries {
		spent = spent.Plus(entries[i].Total())
	}
	head := empty
	if n := len(entries); n > 0 {
		head = ledger.Head{Seq: entries[n-1].Seq, Hash: entries[n-1].Hash}
	}
	now := NewBudgetState(l, ledger.State{Spent: spent, Head: head})
	r := &BudgetReport{Ledger: now.Ledger, BudgetBalance: now.BudgetBalance, Share: now.Share, Meaning: now.Meaning,
		Limit: now.Limit, Releases: []ReportEntry{}, BudgetHead: now.BudgetHead}
	r.Short, r.Warnings = newShortBudget(spent, granted), warnings(l, spent)
	if about := l.About(); about != (ledger.About{}) {
		r.About = &about
	}
	r.Verdict = verdict(spent, granted, now.Share)
	results := map[string]string{}
	for i := range entries {
		if entries[i].Kind == ledger.KindResult {
			results[entries[i].ID] = entries[i].Result.String()
		}
	}
	var assumed assumptions
	taken := takenBy(entries)
	for i := range entries {
		if e := &entries[i]; e.Kind == ledger.KindCharge {
			r.Releases = append(r.Releases, newReportEntry(e, results[e.ID], taken))
			assumed.of(e)
		}
	}
	r.Assumed = append(general(l.Relation()), assumed.list...)
	var open []string
	for _, e := range r.Releases {
		if e.Result == "" && !e.Shared {
			open = append(open, e.ID)
		}
	}
	if n := len(open); n > 0 {
		if n > 5 {
			open = append(open[:5], "…")
		}
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("charges without a recorded result: %d (%s); they were not released, or not by "+
				"this program", n, strings.Join(open, ", ")))
	}
	return r, nil
}

// newReportEntry reports a charge, of which so many answers were taken.
func newReportEntry(e *ledger.Entry, result string, taken map[string]uint64) ReportEntry {
	out := ReportEntry{
		Seq: e.Seq, ID: e.ID, Time: e.Time,
		What: "not a release of this program; its maker vouches for the cost", Cost: NewAmount(e.Total()),
		PaidBy: e.PaidBy, Who: e.Ensemble, Result: result, Shared: covers(e),
	}
	if s := Describe(e.Event); s != "" {
		out.What = visible(s)
	}
	event, label := labelEvent(e)
	if label {
		out.Rule = visible(event.Rule)
		if event.K > 0 && event.Affected > 0 && e.PaidBy == "" {
			out.Reach = reach(constraints.Problem{K: event.K, Affected: event.Affected})
		}
	}
	if m, ok := modelEvent(e.Event); label && event.AcceptWeak || ok && m.AcceptWeak {
		out.What += "; stated that a total which protects nobody is accepted"
	}
	if out.Quota = answersUsed(e, taken); out.Quota != nil {
		out.What += "; " + out.Quota.String()
	}
	return out
}

// covers reports whether a charge pays for releases instead of being one.
func covers(e *ledger.Entry) bool {
	return isShared(e.ID) || e.Draw != nil && e.Draw.Covers
}

// visible writes what another program may have made so that nothing of it acts on a reader's
// screen or turns the direction of text.
func visible(s string) string {
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func labelEvent(e *ledger.Entry) (event Event, ok bool) {
	_, model := modelEvent(e.Event)
	err := json.Unmarshal(e.Event, &event)
	return event, err == nil && event.Mechanism != "" && !model
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
