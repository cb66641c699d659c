package release

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// OnlineOptions are an on-line release: queries that come one at a time.
type OnlineOptions struct {
	// Plan has the mechanism. Each query is charged by itself, whatever its number of queries, unless
	// one charge pays for many labels ([Plan.ForLabels]). Required. [FindPaid] tells whether the ledger has
	// one already, so that none need be made.
	Plan Plan
	// Statement is all that decides on the mechanism. The mechanism that answered the same statement
	// before, or that a charge of it paid for, takes the place of Plan: it draws the same labels, and Plan
	// may be of another solver. With Labels, Plan is made for so many.
	Statement *Statement
	// Several has L and τ where each query is a question with several labels, as [Query.Sets] has them: it is
	// charged as r = min(L, 2τt) answers. Statement must have the same. Defaults to the plan's
	// ([Plan.WithSeveral]).
	Several ensemble.Several
	// Stated is the operator's statement of the teachers' promise, and must fit Plan. What it leaves
	// out is the worst case: they promise nothing, and a record reaches all of them. The operator of
	// a service answers for them, and no table does. M, TotalEpsilon and Delta, which are about one
	// answer, are not compared: Plan has them.
	Stated ensemble.Stated
	// Charge states the payment, without the fields of one request: RequestID, Draw, Votes, Query,
	// Client, Share and Key. Ledger is required, unless Book is given. Slack is for a [Batch], of which it
	// is 0 where none is stated, and for the labels of a question.
	Charge Charge
	// Book is the ledger, opened, instead of Charge.Ledger.
	Book *ledger.Ledger
	// Key is the file of the service key, which is made where there is none. Required. All
	// servers of one ledger share it.
	Key string
	// NewKey allows another key than the one that the latest answers of the same mechanism in the
	// ledger came from. What was answered before can then be given again by no server: its ids are
	// refused for ever.
	NewKey bool
	// Missing is the treatment of a missing vote. MissingAbstain goes with a mechanism for such votes.
	Missing votes.MissingPolicy
	// HeadFile keeps the newest head that [Online.KeepHead] saw, best on another disk than the ledger:
	// a ledger that does not contain it is an older copy, and is refused. "" for none.
	HeadFile string
}

// Online answers queries one at a time, each paid for by itself, and batches of them. It is safe
// for concurrent use, and several processes may answer for one ledger. The package comment has the
// details. A copy is the same handle; the zero Online answers with errors.
type Online struct{ *online }

// online is what copies of a handle share.
type online struct {
	options OnlineOptions
	totals  Totals
	key     serviceKey
	keyName string
	scope   [32]byte // digest of the coins' onlineScope
	unit    ledger.Cost
	covered atomic.Bool            // the training is charged
	payer   atomic.Pointer[string] // the charge that labels are taken of
	head    headFile

	looks   singleflight.Group // of State
	looking sync.Mutex

	mu     sync.Mutex
	book   *ledger.Ledger
	broken error     // what made book unusable
	tried  time.Time // when it was opened last
}

// OpenOnline opens the ledger and the key, and makes sure that queries can be charged. A
// budget that is spent is no error: what was answered is answered again. Other errors are
// those of [Charge.Check], [Charge.Open] and [Bill.Check]; a key that cannot be used is an
// [InputError].
func OpenOnline(ctx context.Context, options OnlineOptions) (*Online, error) {
	options.Charge.Slack, options.Book = handle.Copy(options.Charge.Slack), handle.Copy(options.Book)
	options.Statement = handle.Deep(options.Statement)
	if options.Several == (ensemble.Several{}) {
		options.Several = options.Plan.several
	}
	if said := options.Statement; said != nil && said.several() != options.Several {
		return nil, usagef("several = %+v, but the statement is of %+v", options.Several, said.several())
	}
	o := &Online{&online{options: options}}
	if options.Book != nil {
		if options.Charge.Ledger != "" {
			return nil, usagef("book and %s exclude each other", pLedger)
		}
		o.options.Charge.Ledger = options.Book.Path()
	}
	if options.Statement != nil {
		if err := o.plan(ctx); err != nil {
			return nil, err
		}
		options = o.options
	}
	several, err := options.Plan.WithSeveral(options.Several)
	if err != nil {
		return nil, err
	}
	o.options.Plan = several.WithQueries(max(1, options.Several.Labels))
	if err := options.Plan.Reads(options.Missing); err != nil {
		return nil, err
	}
	template := o.options.Charge
	template.RequestID = "any"
	if template.Ledger == "" {
		return nil, usagef("answers on line need a ledger: give %s", pLedger)
	}
	if options.Key == "" {
		return nil, usagef("answers on line need a service key, from which all coins come: give %s", pKey)
	}
	if err := template.Check(o.options.Plan.promise()); err != nil {
		return nil, err
	}
	stated := options.Stated
	stated.Several = options.Several
	if err = demand(stated, options.Plan.mechanism.Problem(), "the mechanism"); err != nil {
		return nil, err
	}
	if o.totals, err = o.options.Plan.Totals(options.Charge.Slack); err != nil {
		return nil, err
	}
	if o.book = options.Book; o.book == nil {
		if o.book, err = options.Charge.Open(ctx); err != nil {
			return nil, err
		}
	}
	o.head.path = options.HeadFile
	if err = o.head.check(ctx, o.book); err != nil {
		return nil, err
	}
	if o.key, err = o.openKey(ctx); err != nil {
		return nil, err
	}
	o.keyName = o.key.name()
	o.scope = o.key.digest("scope", scopeOf(o.book.ID(), o.options.Plan).parts()...)
	if err := o.probe(ctx); err != nil {
		return nil, err
	}
	if err := o.keepGiven(ctx); err != nil {
		return nil, err
	}
	if err := o.KeepHead(ctx); err != nil {
		return nil, err
	}
	return o, nil
}

// probe returns an error unless the ledger would take the charge of a new query. A spent budget is
// no error, nor that one more answer would make all that is spent worth nothing.
func (o *Online) probe(ctx context.Context) error {
	b, err := o.bill(&Query{ID: rand.Text()}, ledger.Digest{1})
	if err != nil {
		return err
	}
	if o.unit = b.release.Unit; b.training != nil {
		o.unit = b.training.Unit
	}
	var unit accountant.Cost
	unit.Epsilon, unit.Delta = o.unit.Ceil()
	if err := o.options.Charge.strength().judge("what is charged for an answer", unit); err != nil {
		return err // no query would ever be answered
	}
	if _, err = b.Check(ctx, o.book); errors.Is(err, ledger.ErrExceeded) || errors.Is(err, ledger.ErrAnswers) ||
		isWeak(err) {
		return nil
	}
	return err
}

// Plan returns the plan by which queries are answered.
func (o *Online) Plan() Plan { return o.made().options.Plan }

// made returns o, or one that answers with errors where nobody opened it.
func (o *Online) made() *Online {
	if o == nil || o.online == nil {
		return &Online{new(online)}
	}
	return o
}

// Teachers returns how the teachers spend their privacy.
func (o *Online) Teachers() ensemble.TeacherRandomness { return o.made().options.Charge.Teachers }

// Stated returns what was stated of the teachers, with the worst case for what was left out, and
// the same for people; false where nothing was.
func (o *Online) Stated() (p constraints.Problem, text string, said bool) {
	o = o.made()
	if !o.options.Stated.OfTeachers() {
		return constraints.Problem{}, "", false
	}
	s := o.options.Plan.Summary(votes.Roles{}, o.options.Charge)
	return s.Problem, s.presumed() + "; " + s.reach(), true // demand has compared them
}

// Unit returns what is charged for one answer or, of frozen teachers, once for all.
func (o *Online) Unit() ledger.Cost { return o.made().unit }

// known gives a bill what earlier answers found of its payer.
func (o *Online) known(b *Bill) {
	if !b.labels() {
		b.covered = o.covered.Load()
	} else if payer := o.payer.Load(); payer != nil {
		b.payer = *payer
	}
}

// paid remembers who paid for an answer.
func (o *Online) paid(receipt *ledger.Receipt) {
	o.covered.Store(true)
	if e := receipt.Entry(); e.Quota != nil && e.PaidBy != "" {
		o.payer.Store(&e.PaidBy)
	}
}
