package release

import (
	"context"
	"errors"
	"io"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// LabelRun is a release of labels under way. Its votes are counted where a ledger pays for them. It
// is not safe for concurrent use, and ends in Close.
type LabelRun struct {
	Labels
	needs       *Need
	use         func(p Plan, slack float64) error // takes the plan that is needed
	planned     Plan
	transaction Transaction
	coins       *keyedCoins // nil where the release cannot be resumed
	source      reread
	counted     *reading // the reading that was paid for; nil where nothing is
	votes       *votes.Reader
	questions   ensemble.Several // of the votes' teachers
	summary     Summary
}

// Need states what a plan must be made for.
type Need struct {
	Teachers, Classes int // see LabelRun.Several for public votes beside those of the teachers
	// Queries and Budget are of a plan within a budget: how many labels, of questions with several all of
	// them, and the budget in numbers.
	Queries int
	Budget  accountant.Cost
}

// Open begins the release or, with quote, a quotation. It reads the votes and finds out whether the
// ledger has a plan of a charge of the same statement. If not, the caller makes the one that
// [LabelRun.Need] asks for.
func (l Labels) Open(ctx context.Context, quote bool) (*LabelRun, error) {
	r := &LabelRun{Labels: l}
	err := r.open(ctx, quote)
	if err == nil && r.needs == nil {
		err = r.settle()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Need returns what a plan must be made for; nil where the ledger has the plan.
func (r *LabelRun) Need() *Need { return handle.Copy(handle.Made(r).needs) }

// Use takes the plan that is needed. Within a budget, slack is the δ' in [0, 1) that the composition of
// the labels spends, which is Charge.Slack then; and where the plan presumes nothing of private teachers,
// Charge.Teachers is as if it was left out: their privacy is not spent.
func (r *LabelRun) Use(p Plan, slack float64) error {
	if handle.Made(r).needs == nil {
		return usagef("no plan is needed: the ledger has it")
	}
	if err := r.use(p, slack); err != nil {
		return err
	}
	r.needs = nil
	return r.settle()
}

// Run releases the labels: see [Labels.Run].
func (r *LabelRun) Run(ctx context.Context) (*Summary, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	var file *labelFile
	if r.Encode == nil {
		file = &labelFile{FileOutput: r.Output, options: votes.LabelOptions{
			Format: r.Format, Compression: r.Compression, Classes: r.summary.Classes,
			IDColumn: r.votes.Columns().IDName(), Simulated: r.summary.Simulated,
			Labels: r.Read.Labels, Sets: r.Sets, Separator: r.Read.Separator,
		}}
		defer file.remove()
		r.transaction.Output = file
	}
	r.transaction.Draw = r.draw(file)
	out, err := r.transaction.Run(ctx)
	if !out.Done() {
		return nil, err
	}
	r.summary.Before = out.Before
	if r.transaction.Ledger != nil && r.planned.Together().Most > 0 {
		var lost error // the labels are out all the same
		r.summary.Charge, lost = ChargeOf(ctx, r.transaction.Ledger, r.Charge.RequestID)
		err = errors.Join(err, lost)
	}
	if out.Again() { // a release that was made before does not come to answer
		r.summary.Again, r.summary.PaidBy = true, out.Receipt.Entry().PaidBy
	}
	return &r.summary, err
}

// ready refuses to run without a plan.
func (r *LabelRun) ready() error {
	if handle.Made(r).needs != nil || handle.Made(r).votes == nil {
		return usagef("a plan must be given before: see Need and Use")
	}
	return nil
}

// Quote returns the cost of the release, and releases and charges nothing. Where the ledger would
// refuse it, the error is the ledger's.
func (r *LabelRun) Quote(ctx context.Context) (*Quote, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	q, err := newQuote(ctx, r.summary, r.transaction.Ledger, r.transaction.Bill,
		r.transaction.secret.isResumed())
	if err != nil || r.transaction.Bill == nil || !r.transaction.Bill.labels() {
		return q, err
	}
	q.Summary.Charge, err = r.transaction.Bill.taken(ctx, r.transaction.Ledger)
	return q, err
}

// open reads the votes and asks the ledger, and writes nothing.
func (r *LabelRun) open(ctx context.Context, dry bool) (err error) {
	if err = r.check(); err != nil {
		return err
	}
	if r.Charge.Ledger == "" && !dry {
		if err = checkOverwrite(r.Output.Path, r.Force, r.Seed != nil); err != nil {
			return err
		}
	}
	if r.transaction.Ledger, err = r.Charge.Open(ctx); err != nil {
		return err
	}
	if r.coins, err = openCoins(ctx, r.Checkpoint, owner{r.transaction.Ledger.ID(), r.Charge.RequestID}); err != nil {
		return err
	}
	r.transaction.Output, r.transaction.Force = r.Output, r.Force
	r.source = reread{paths: r.Votes, stdin: r.Stdin}
	r.Read.NoTruth = !r.Truth
	if r.transaction.Ledger != nil || dry || r.Budget != nil {
		if err = r.count(ctx); err != nil {
			return err
		}
	}
	if r.votes, err = r.source.open(ctx, r.Read); err != nil {
		return err
	}
	if r.questions, err = SeveralOf(r.Read).Of(r.votes.K()); err != nil {
		return &UsageError{err}
	}
	return r.choose(ctx, r.votes.K(), len(r.votes.Classes()))
}

// settle works out what is released and charged, and writes nothing.
func (r *LabelRun) settle() (err error) {
	if r.planned, err = r.planned.WithSeveral(r.questions); err != nil {
		return err
	}
	if err = r.planned.Fits(r.questions.Votes(r.votes.K()), len(r.votes.Classes())); err != nil {
		return err
	}
	if err = r.planned.Reads(r.Read.Missing); err != nil {
		return err
	}
	if err = r.Charge.Check(r.planned.promise()); err != nil {
		return err
	}
	r.summary = r.planned.Summary(r.votes.Columns(), r.Charge)
	r.summary.Classes, r.summary.Labels = r.planned.AnswerNames(r.votes.Classes()), append([]string(nil), r.Read.Labels...)
	r.summary.Same = r.Read.Same
	r.summary.Source, r.summary.Simulated = r.Source, r.Seed != nil || r.transaction.simulated()
	if r.counted == nil {
		return nil
	}
	if err = r.account(r.counted.queries); err != nil {
		return err
	}
	return r.bill()
}

// count reads the votes once, and checks all of them.
func (r *LabelRun) count(ctx context.Context) (err error) {
	if err = r.source.keep(ctx, r.Read); err != nil {
		return err
	}
	var hash *ledger.VoteHash
	if r.Charge.NeedsVotes() {
		if hash, err = r.transaction.Ledger.VoteHash(); err != nil {
			return err
		}
	}
	r.Read = Hashed(r.Read, hash)
	v, err := r.source.open(ctx, r.Read)
	if err != nil {
		return err
	}
	defer v.Close()
	r.counted = newReading(hash, r.coins)
	digest := func(_ context.Context, b *votes.Batch) (*ledger.VoteHash, error) {
		return r.counted.digest(b), nil
	}
	return process(ctx, r, v, Counting, digest, r.counted.add)
}

// process passes the votes through work and sink, and reports its progress.
func process[T any](ctx context.Context, r *LabelRun, v *votes.Reader, passage string,
	work func(context.Context, *votes.Batch) (T, error), sink func(*votes.Batch, T) error) error {
	var o votes.ProcessOptions
	if r.Progress != nil {
		var end func()
		o.Progress, end = r.Progress(passage)
		defer end()
	}
	err := votes.Process(v, o, work, sink)
	var parse *votes.ParseError
	if errors.As(err, &parse) {
		return Unreadable(ctx, err)
	}
	return err
}

// account works out the cost of the given number of answers.
func (r *LabelRun) account(queries int) (err error) {
	r.planned, r.summary.Queries = r.planned.WithQueries(queries), queries
	r.summary.Charged = r.planned.charged()
	if r.summary.Totals, err = r.planned.Totals(r.Charge.Slack); err != nil {
		return err
	}
	if r.Charge.Ledger != "" || r.Seed != nil { // the ledger judges; a simulation promises nothing
		return nil
	}
	return r.summary.CheckTotals(r.Charge)
}

// bill works out what the ledger is charged, and that the key is of this release.
func (r *LabelRun) bill() (err error) {
	if r.transaction.Ledger == nil {
		return nil
	}
	if r.coins != nil {
		if !r.planned.tabled() {
			return usagef("%s goes with a mechanism that has a noise function or a table, not "+
				"with %s, whose coins come from no key", pCheckpoint, r.planned.mechanism.Name())
		}
		if err = r.coins.end(r.planned); err != nil {
			return err
		}
		r.transaction.secret = r.coins.secret
	}
	r.Charge.Same, r.Charge.labels = r.Read.Same, r.Read.Labels
	r.Charge.Votes, r.Charge.Key = r.counted.hash, r.coins.fingerprint()
	r.transaction.Bill, err = r.planned.bill(r.Charge, r.summary.Totals)
	return err
}

// draw draws the answers, into the file if there is one, and returns what gives the result.
func (r *LabelRun) draw(file *labelFile) func(context.Context,
	*ledger.Receipt) (func(io.Writer) error, error) {
	return func(ctx context.Context, paid *ledger.Receipt) (func(io.Writer) error, error) {
		if file == nil {
			return func(w io.Writer) error { return r.Encode(w, &r.summary) }, r.answer(ctx, paid, nil)
		}
		if err := r.answer(ctx, paid, file); err != nil {
			return nil, err
		}
		return file.encode, file.failure(file.file.Commit())
	}
}

// answer draws all answers, in the order of the votes, into the file if there is one.
func (r *LabelRun) answer(ctx context.Context, paid *ledger.Receipt, file *labelFile) error {
	if paid != nil {
		r.summary.Again, r.summary.PaidBy = repeated(paid), paid.Entry().PaidBy
	}
	reading := newReading(nil, nil)
	if r.counted != nil {
		reading = r.counted.again()
		reading.free = r.transaction.Ledger == nil
	}
	coins := r.coins.coins(r.Charge.RequestID)
	if r.Seed != nil {
		coins = randsrc.SeededCoins(*r.Seed)
	}
	type drawn struct {
		digest  *ledger.VoteHash
		answers []int
	}
	work := func(ctx context.Context, b *votes.Batch) (d drawn, err error) {
		d.digest = reading.digest(b)
		d.answers, err = reading.answer(ctx, r.planned.mechanism, coins, b)
		return d, err
	}
	n, most := 0, r.planned.Together().Most
	err := process(ctx, r, r.votes, Answering, work, func(b *votes.Batch, d drawn) error {
		if err := reading.add(b, d.digest); err != nil {
			return err
		}
		// Without a ledger nobody has counted the queries before: no answer beyond the table's last
		// one reaches Each.
		n += b.Len()
		if charged := r.planned.WithQueries(n).charged(); most > 0 && charged > most {
			return tooMany(charged, most)
		}
		if r.Each != nil {
			if err := r.Each(b, d.answers); err != nil {
				return err
			}
		}
		if file == nil {
			return nil
		}
		return file.add(b, d.answers)
	})
	if err != nil {
		return err
	}
	if err := reading.end(); err != nil {
		return err
	}
	if r.coins != nil {
		return r.coins.end(r.planned)
	}
	if r.counted == nil {
		return r.account(reading.queries)
	}
	return nil
}

// Close ends the release. What Run has put in its place stays.
func (r *LabelRun) Close() {
	r = handle.Made(r)
	r.source.close()
	if r.votes != nil {
		_ = r.votes.Close() // only read from
	}
}

// Several returns what is stated of several labels of a question, for the teachers who voted.
func (r *LabelRun) Several() ensemble.Several { return handle.Made(r).questions }
