package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// Table is a table that was read and certified: of a noise function, of a plurality of many
// classes, or of many answers with one price, which may also be noise. All but one are nil.
type Table struct {
	Gamma     *gamma.Table
	Plurality *plurality.Table
	Answers   *answers.Table
	Noise     *noisymax.Table
}

// MaxTableBytes bounds what ReadTable reads.
const MaxTableBytes = max(gamma.MaxTableBytes, plurality.MaxTableBytes, answers.MaxTableBytes)

// ReadTable reads a table of any kind, certifies it from scratch and compares what it says
// about itself with what is found. A table is what its field "kind" says. The error is an
// [InputError] where the bytes are no table or cannot be read, otherwise that of the claim's
// Verify.
func ReadTable(ctx context.Context, r io.Reader) (t Table, err error) {
	if r == nil {
		return Table{}, usagef("reader must be given, of a table")
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxTableBytes+1))
	if err != nil {
		return Table{}, &InputError{err}
	}
	switch r := bytes.NewReader(data); {
	case plurality.Recognises(data):
		t.Plurality, err = verified[plurality.Table](ctx)(plurality.ReadClaim(r))
	case answers.Recognises(data):
		t.Answers, err = verified[answers.Table](ctx)(answers.ReadClaim(ctx, r))
	case noisymax.Recognises(data):
		t.Noise, err = verified[noisymax.Table](ctx)(noisymax.ReadClaim(ctx, r))
	default:
		t.Gamma, err = verified[gamma.Table](ctx)(gamma.ReadClaim(r))
	}
	return t, err
}

// verified returns the table of a claim that was read with err.
func verified[T any](ctx context.Context) func(claim claim[T], err error) (*T, error) {
	return func(claim claim[T], err error) (*T, error) {
		if err != nil {
			return nil, &InputError{err}
		}
		return claim.Verify(ctx)
	}
}

// claim is what a file says of a table.
type claim[T any] interface {
	Verify(context.Context) (*T, error)
}

// Encode writes the table as its file.
func (t Table) Encode(w io.Writer) error {
	return t.Document().Encode(w)
}

// Document is a table as JSON, and as a file.
type Document interface {
	json.Marshaler
	Encode(io.Writer) error
}

// Document returns the one table that is there.
func (t Table) Document() Document {
	switch {
	case t.Answers != nil:
		return t.Answers
	case t.Plurality != nil:
		return t.Plurality
	case t.Noise != nil:
		return t.Noise
	}
	return t.Gamma
}

// Verdict returns in one sentence what ReadTable found of the table.
func (t Table) Verdict() string {
	var (
		gap    float64
		proved bool // something, of how good it is
	)
	switch {
	case t.Answers != nil, t.Noise != nil:
		return "VERIFIED: all answers together are as private as promised."
	case t.Plurality != nil:
		gap, proved = t.Plurality.Gap, t.Plurality.Bounded()
	case t.Gamma != nil:
		gap, proved = t.Gamma.Gap, t.Gamma.Bounded()
	default:
		return "no table"
	}
	if !proved {
		return "VERIFIED: private as promised. Nothing is proved of how near to the optimum it is."
	}
	return fmt.Sprintf("VERIFIED: private as promised; within %s of optimal.",
		num.Outward(gap, 2, true))
}

// Plan returns answers with the table, to the votes of the teachers that it is certified for.
// neighbours is the relation of their promise, or for which the table's t was counted.
func (t Table) Plan(neighbours accountant.Relation) (Plan, error) {
	var (
		m   *ensemble.Mechanism
		err error
	)
	switch {
	case t.Answers != nil:
		m, err = ensemble.ManyAnswers(t.Answers.Certified, neighbours)
	case t.Plurality != nil:
		m, err = ensemble.OptimalPlurality(t.Plurality, neighbours)
	case t.Noise != nil:
		m, err = ensemble.NoiseOfAnswers(t.Noise.Certified, neighbours)
	case t.Gamma != nil:
		m, err = ensemble.Optimal(t.Gamma, neighbours)
	default:
		err = usagef("table must be given: use ReadTable")
	}
	plan, err := planOf(m, err)
	return plan.WithTable(t), err
}
