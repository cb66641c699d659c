package release

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
)

// Batch is a release of one label for each row of votes in memory, or of all labels of each question with
// several. Give Votes, Counts or Sets.
type Batch struct {
	// Name names the release, and is its request in the ledger: 1 to ledger.MaxID bytes. The same
	// name with the same rows, in their order, has the same labels for ever. Of fresh teachers it
	// names the draw.
	Name string
	// Votes has a row for each query: the classes that the teachers voted for, in the order of the
	// teachers; -1 for a vote that is missing.
	Votes [][]int
	// Counts has a row for each query: how many teachers voted for each class, K in all.
	Counts [][]int
	// Sets, where queries are questions with several labels ([OnlineOptions.Several]), has a row for each
	// question: of each teacher the labels that it says yes to, as in [Query.Sets].
	Sets [][][]int
}

// AnsweredBatch has the labels of a batch.
type AnsweredBatch struct {
	Name   string
	Labels []int // a class for each row, or ensemble.Abstained; nil of questions with several labels
	// Sets has the answer to each label of each question: 0 for no, 1 for yes, or ensemble.Abstained. nil
	// where each row has one label.
	Sets [][]int
	// Replayed is true if the batch was charged before: nothing was spent now.
	Replayed bool
	// Simulated is true if the ledger is one for tests: nothing was released.
	Simulated bool
	Charge    ledger.Entry // of all labels; of frozen teachers at no cost, PaidBy names the training's
	// Cost is the cost of all labels together, of frozen teachers whatever else they are asked.
	Cost   accountant.Cost
	Totals Totals // the same by the kind of teachers
}

// queries returns the rows as queries, without names.
func (b *Batch) queries() ([]Query, error) {
	kinds := 0
	for _, given := range []bool{b.Votes != nil, b.Counts != nil, b.Sets != nil} {
		if given {
			kinds++
		}
	}
	n := len(b.Votes) + len(b.Counts) + len(b.Sets)
	switch {
	case kinds > 1:
		return nil, errors.New("votes, counts and sets exclude each other")
	case n == 0:
		return nil, errors.New("votes, counts or sets must be given, one row at least")
	}
	rows := make([]Query, n)
	for i := range rows {
		switch {
		case b.Votes != nil:
			rows[i].Votes = b.Votes[i]
		case b.Counts != nil:
			rows[i].Counts = b.Counts[i]
		default:
			rows[i].Sets = b.Sets[i]
		}
	}
	return rows, nil
}

// castBatch is a batch that was checked.
type castBatch struct {
	ballots []ballot
	digest  ledger.Digest // under the service key, of the name and of all rows in their order
	votes   *ledger.VoteHash
}

// cast checks and counts all rows before anything is charged.
func (o *Online) cast(book *ledger.Ledger, b *Batch) (c castBatch, err error) {
	rows, err := b.queries()
	if err != nil {
		return c, &InputError{err}
	}
	if o.options.Charge.fresh() {
		if c.votes, err = book.VoteHash(); err != nil {
			return c, err
		}
	}
	parts := [][]byte{o.scope[:], []byte(b.Name), binary.AppendUvarint(nil, uint64(len(rows)))}
	for i := range rows {
		ballot, err := o.read(&rows[i])
		if err != nil {
			return c, &InputError{fmt.Errorf("row %d: %w", i, err)}
		}
		c.ballots = append(c.ballots, ballot)
		parts = append(parts, ballot.row)
		switch {
		case c.votes == nil: // as of questions with several labels, which go without private teachers
		case rows[i].Votes != nil:
			c.votes.Add(rows[i].Votes)
		default:
			c.votes.AddCounts(rows[i].Counts) // without public votes, which are no teacher's
		}
	}
	c.digest = o.key.digest("batch", parts...)
	return c, nil
}

// Batch releases a label for each row, or all labels of each question with several, or gives those that it released before. The ledger is
// charged once, what the labels cost together: by the best composition within Charge.Slack, and by
// their sum where none is stated. Coins come from the service key, the name and all rows, so the
// same batch has the same labels after any interruption, and costs nothing again. Whoever asks is
// trusted with the votes: a replay confirms a guess of all rows.
//
// Everything is checked before anything is charged, and an [InputError] names what is wrong with
// the batch. A name that was used with other rows, in another order, by another mechanism or with
// another key is refused before anything is drawn. Other errors are those of [Transaction.Run].
func (o *Online) Batch(ctx context.Context, b Batch) (*AnsweredBatch, error) {
	o = o.made()
	book, err := o.ledger(ctx)
	if err != nil {
		return nil, err
	}
	if err := shared(b.Name); err != nil {
		return nil, &InputError{err}
	}
	c, err := o.cast(book, &b)
	if err != nil {
		return nil, err
	}
	a := &AnsweredBatch{Name: b.Name, Simulated: book.Simulated()}
	bill, err := o.batchBill(&b, &c, a)
	if err != nil {
		return nil, err
	}
	t := &Transaction{Ledger: book, Bill: bill, Output: nowhere{}, repeats: true}
	t.Draw = o.sealed("darrm answers 1", c.digest, func(ctx context.Context) (any, error) { return o.label(ctx, &c, a) })
	out, err := o.run(ctx, t)
	if err != nil {
		return nil, err
	}
	a.Replayed, a.Charge = t.paid.Charge.Seq != 0, out.Receipt.Entry()
	if out.Again() && a.Totals.Again != nil { // a batch of votes that were answered before adds another cost
		a.Cost = a.Totals.Again.Cost
	}
	return a, nil
}

// batchBill is the charge of a batch, whose totals a gets.
func (o *Online) batchBill(b *Batch, c *castBatch, a *AnsweredBatch) (bill *Bill, err error) {
	charge := o.options.Charge
	if charge.Slack == nil {
		charge.Slack = new(0.0)
	}
	queries := 0 // of questions with several labels, all of these
	for i := range c.ballots {
		queries += len(c.ballots[i].counts)
	}
	plan := o.options.Plan.WithQueries(queries)
	if most := plan.Together().Most; most > 0 && plan.charged() > most {
		return nil, tooMany(plan.charged(), most)
	}
	if a.Totals, err = plan.Totals(charge.Slack); err != nil {
		return nil, err
	}
	a.Cost = a.Totals.cost(charge.Teachers)
	charge.RequestID, charge.Query, charge.Votes, charge.Key = b.Name, c.digest, c.votes, o.keyName
	charge.online = true
	if bill, err = plan.bill(charge, a.Totals); err != nil {
		return nil, err
	}
	o.known(bill)
	return bill, nil
}

// label draws the labels of a batch that was paid for, into a, and returns them.
func (o *Online) label(ctx context.Context, c *castBatch, a *AnsweredBatch) (drawn any, err error) {
	coins, answers := o.coins(), make([][]int, len(c.ballots))
	for i := range answers {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// The digest has the name and all rows: no other batch, and no query, has these coins.
		query := binary.AppendUvarint(c.digest[:len(c.digest):len(c.digest)], uint64(i))
		if answers[i], err = c.ballots[i].draw(o.options.Plan.mechanism, coins, query); err != nil {
			return nil, err
		}
	}
	if c.ballots[0].asked != nil {
		a.Sets = answers
		return answers, nil
	}
	for _, answer := range answers {
		a.Labels = append(a.Labels, answer[0])
	}
	return a.Labels, nil
}

// failed is the error of a request that was not answered.
func (o *Online) failed(id string, err error) error {
	var parameter *check.Error // of the request: its id, its client or its share
	if errors.As(err, &parameter) {
		err = &InputError{err}
	}
	return conflictOf(id, err)
}
