package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/ledger"
)

// LabelCharge is a charge that pays for a number of labels, of which releases take some each.
type LabelCharge struct {
	ID     string `json:"charge"`
	Labels uint64 `json:"labels"` // that it pays for
	Taken  uint64 `json:"taken"`  // delivered or not
	Left   uint64 `json:"left"`
	// Each is how many of these a question with several labels takes; 0 where a label takes one.
	Each int `json:"each_question,omitempty"`

	planned bool // of a dry run: nothing is taken yet
}

// String describes the charge for people.
func (c *LabelCharge) String() string {
	c = handle.Made(c)
	what := takes(c.Each)
	if c.Each > 0 {
		what += fmt.Sprintf(", %d for each question,", c.Each)
	}
	switch {
	case c.planned && c.Left == 0:
		return fmt.Sprintf("%d of %d %s would be taken, and none would be left", c.Taken, c.Labels, what)
	case c.planned:
		return fmt.Sprintf("%d of %d %s would be taken; %d would be left under the same charge",
			c.Taken, c.Labels, what, c.Left)
	case c.Left == 0:
		return fmt.Sprintf("%d of %d %s are taken, and none is left", c.Taken, c.Labels, what)
	}
	return fmt.Sprintf("%d of %d %s are taken; %d are left under the same charge: the same command "+
		"takes them for the next files", c.Taken, c.Labels, what, c.Left)
}

// LabelCharges returns the charges of a ledger that pay for labels of several releases, the oldest
// first.
func LabelCharges(ctx context.Context, l *ledger.Ledger) (out []LabelCharge, err error) {
	all, err := l.Quotas(ctx)
	for i := range all {
		out = append(out, *newLabelCharge(&all[i]))
	}
	return out, err
}

// Short describes the charge in one line.
func (c *LabelCharge) Short() string {
	c = handle.Made(c)
	return fmt.Sprintf("%s: %d of %d %s taken, %d left", shortID(c.ID), c.Taken, c.Labels, takes(c.Each), c.Left)
}

func newLabelCharge(u *ledger.QuotaUse) *LabelCharge {
	return &LabelCharge{ID: u.Charge.ID, Labels: u.Charge.Quota.Answers, Taken: u.Taken, Left: u.Left(),
		Each: eachQuestion(&u.Charge)}
}

// eachQuestion returns how many answers of a charge a question with several labels takes; 0 where a label
// takes one.
func eachQuestion(e *ledger.Entry) int {
	var event Event
	if json.Unmarshal(e.Event, &event) != nil || event.several().Labels == 0 {
		return 0
	}
	return event.Several.PerQuestion(event.Affected)
}

// takes names what is taken of a charge.
func takes(each int) string {
	if each > 0 {
		return "answers"
	}
	return "labels"
}

// LeftError is a [ledger.ErrAnswers]: too few labels are left of the charges of the same statement,
// and nobody asked for another one.
type LeftError struct {
	*ledger.QuotaError
	Remaining ledger.Cost // of the ledger
	Price     ledger.Cost // of another charge

	each int // as of LabelCharge
}

func (e *LeftError) Error() string {
	if e.QuotaError == nil {
		return ledger.ErrAnswers.Error()
	}
	left := fmt.Sprintf("%d %s are", e.Left(), takes(e.each))
	if e.Left() == 1 {
		left = "1 " + strings.TrimSuffix(takes(e.each), "s") + " is"
	}
	return fmt.Sprintf("%v: %s left of the charge %s, and %d are asked for; %v is left of the "+
		"ledger", ledger.ErrAnswers, left, shortID(e.PaidBy), e.Asked, e.Remaining)
}

// shortID is an id for people: quoted, or of a digest that this program made the first eight
// characters.
func shortID(id string) string {
	if short := ShortID(id); short != id {
		return short
	}
	return strconv.Quote(id)
}

// ShortID cuts the digest of an id that this program made to eight characters, for people. JSON and the
// charge's own entry have all of it.
func ShortID(id string) string {
	if short := len(answersPrefix) + 8; strings.HasPrefix(id, answersPrefix) && len(id) > short {
		return id[:short] + "…"
	}
	return id
}

// Unwrap returns the ledger's error.
func (e *LeftError) Unwrap() error { return e.QuotaError }

// tooMany is the error for more labels than one charge pays for.
func tooMany(queries, most int) error {
	return &InputError{check.Wantf("queries", fmt.Sprintf("%d or more", queries),
		"at most %d, the number that one charge pays for", most)}
}

// name writes into an event what its mechanism is, exactly.
func (plan Plan) name(event *Event) {
	if plan.tabled() {
		event.Table = plan.tableDigest().String()
		return
	}
	event.Parameters = plan.mechanism.Parameters()
	event.Classes = plan.mechanism.Setting().Classes
}

// billLabels makes b the bill of labels that one charge pays for: whoever asks, and in any number of
// releases, since the price holds for all votes that one record moves t of. The number of labels is
// fixed before the first one, and the ledger counts those that are taken.
func (plan Plan) billLabels(b *Bill, c Charge, event Event) (err error) {
	together := plan.Together()
	opens := event
	opens.Queries, opens.Votes, opens.Key, opens.Online, opens.Labels = 0, "", "", false, nil
	opens.AcceptWeak, opens.Budget, opens.Answers, opens.Stated = false, nil, together.Most, c.stated
	forAll := plan.mechanism.HashOfAll() != ""
	if !c.bare || forAll {
		plan.name(&opens)
	}
	if forAll {
		opens.PerAnswer, opens.Slack = nil, 0 // no answer has a price of its own
	}
	event.PerAnswer, event.Slack, event.Answers = nil, 0, together.Most
	event.Table, event.Parameters, event.Classes = opens.Table, "", 0
	table := plan.digest()
	payer := c
	payer.Client, payer.Share = "", nil // it pays for what anybody asks
	opening, err := payer.request(answersPrefix+table.String(), together.Cost, opens)
	if err != nil {
		return err
	}
	b.own = c.NewCharge || c.stated != nil && c.stated.own()
	if b.own {
		opening.ID = answersPrefix + named(table.String(), c.RequestID)
	}
	opening.Quota = &ledger.Quota{Table: table, Answers: uint64(together.Most)}
	if b.release, err = c.paidRequest(event, opening.ID); err != nil {
		return err
	}
	b.training = &opening
	b.release.Quota = &ledger.Quota{Table: table, Share: c.AnswersShare}
	b.release.Count = uint64(plan.charged())
	b.judged(c.strength())
	return nil
}

// labels reports whether one charge pays for labels of many releases.
func (b *Bill) labels() bool { return b.training != nil && b.training.Quota != nil }

// settleLabels finds the charge that labels are taken of, as the ledger stands: that of the same
// request where it was made before, else the oldest one with enough left. payer is the charge that
// has to be made, nil for none.
func (b *Bill) settleLabels(ctx context.Context, l *ledger.Ledger) (
	payer *ledger.Request, release ledger.Request, err error) {
	release = b.release
	if b.payer != "" {
		release.PaidBy = b.payer
		return nil, release, nil
	}
	earlier, err := l.Find(ctx, release.ID)
	if err != nil {
		return nil, release, err
	}
	if earlier != nil && earlier.Quota != nil && earlier.PaidBy != "" {
		release.PaidBy = earlier.PaidBy
		return nil, release, nil
	}
	if b.own {
		return b.training, release, nil
	}
	all, err := l.Quotas(ctx)
	if err != nil {
		return nil, release, err
	}
	open, left := enoughLeft(all, release.Count, func(use *ledger.QuotaUse, _ *Event) bool {
		return use.Charge.Quota.Table == b.training.Quota.Table
	})
	switch {
	case open != nil:
		release.PaidBy = open.Charge.ID
		return nil, release, nil
	case left != nil:
		return nil, release, tooFew(ctx, l, left, release.Count)
	}
	return b.training, release, nil
}

// enoughLeft returns the oldest charge that is, by is, one of those that are looked for and has n
// labels left or, where there is none of these, the one that has the most left. Charges of one
// release alone are passed over.
func enoughLeft(all []ledger.QuotaUse, n uint64,
	is func(*ledger.QuotaUse, *Event) bool) (enough, most *ledger.QuotaUse) {
	for i := range all {
		use := &all[i]
		var event Event
		if json.Unmarshal(use.Charge.Event, &event) != nil || event.Stated != nil && event.Stated.own() ||
			!is(use, &event) {
			continue
		}
		if use.Left() >= n {
			return use, nil
		}
		if most == nil || use.Left() > most.Left() {
			most = use
		}
	}
	return nil, most
}

// tooFew is the error where no charge has n labels left.
func tooFew(ctx context.Context, l *ledger.Ledger, most *ledger.QuotaUse, n uint64) error {
	remaining, err := l.Remaining(ctx)
	if err != nil {
		return err
	}
	left := &LeftError{&ledger.QuotaError{PaidBy: most.Charge.ID, Answers: most.Charge.Quota.Answers,
		Taken: most.Taken, Asked: n}, remaining, most.Charge.Unit, eachQuestion(&most.Charge)}
	if Least(left.Price, remaining) != left.Price {
		return fmt.Errorf("%w, too little for another charge of %v", left, left.Price)
	}
	return check.Namedf("%w: %s pays %v again", left, pNewCharge, left.Price)
}

// mostTries is how often a bill of labels is settled again. Each time others took labels meanwhile.
const mostTries = 1000

// elsewhere returns the bill that is to be paid where this one was refused because others were
// faster, or because the request was made before under another charge; nil where the refusal
// stands.
func (b *Bill) elsewhere(err error) *Bill {
	next := *b
	var left *LeftError
	var conflict *ledger.ConflictError
	switch {
	case err == nil || errors.As(err, &left):
		return nil
	case errors.Is(err, ledger.ErrAnswers):
		next.payer = "" // look again
		return &next
	case !errors.As(err, &conflict) || conflict.Earlier == nil:
		return nil
	}
	switch was := conflict.Earlier.Charge; {
	case conflict.ID == b.release.ID && was.Quota != nil && was.PaidBy != "" && was.PaidBy != b.payer &&
		conflict.What == "who paid":
		next.payer = was.PaidBy
		return &next
	case conflict.ID == b.training.ID && was.Quota != nil && was.PaidBy == "" &&
		was.Quota.Table == b.training.Quota.Table && b.payer == "" && !b.own:
		next.payer = was.ID // opened meanwhile for another statement, of the same mechanism
		return &next
	}
	return nil
}

// taken returns the state of the charge after the bill is paid, which it was not yet.
func (b *Bill) taken(ctx context.Context, l *ledger.Ledger) (*LabelCharge, error) {
	payer, release, err := b.settleLabels(ctx, l)
	if err != nil {
		return nil, err
	}
	out := newLabelCharge(&ledger.QuotaUse{Charge: ledger.Entry{Event: b.training.Event, Quota: b.training.Quota}})
	out.ID = release.PaidBy
	if payer == nil {
		use, err := l.Quota(ctx, release.PaidBy, "")
		if err != nil || use == nil {
			return nil, err
		}
		out = newLabelCharge(use)
		if e, err := l.Find(ctx, release.ID); err != nil || e != nil {
			return out, err // it took them before
		}
	}
	out.Taken, out.Left = out.Taken+release.Count, out.Labels-out.Taken-release.Count
	out.planned = true
	return out, nil
}

// ChargeOf returns the state of the charge that the labels of a request were taken of; nil for none.
func ChargeOf(ctx context.Context, l *ledger.Ledger, request string) (*LabelCharge, error) {
	e, err := l.Find(ctx, request)
	if err != nil || e == nil || e.Quota == nil || e.PaidBy == "" {
		return nil, err
	}
	use, err := l.Quota(ctx, e.PaidBy, "")
	if err != nil || use == nil {
		return nil, err
	}
	return newLabelCharge(use), nil
}
